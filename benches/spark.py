"""Spark on two executors beside the command line, and what a row and a state cost."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from timing import DSHAP, grouped

#: Rows and columns of the comparison with the command line, and rows of the smaller table beside it.
SIZE = (200_000, 50) if os.environ.get("DSHAP_BENCH_SMALL") else (5_000_000, 50)


def write(folder, n, p, seed=1):
    """Rows of a linear model, in files of at most 250 000 rows."""
    rng = np.random.default_rng(seed)
    beta = rng.normal(size=p)
    folder.mkdir()
    for i, start in enumerate(range(0, n, 250_000)):
        X = rng.normal(size=(min(250_000, n - start), p))
        y = X @ beta + rng.normal(size=len(X))
        columns = {f"x{j}": X[:, j] for j in range(p)} | {"y": y}
        pq.write_table(pa.table(columns), folder / f"part-{i:03}.parquet", compression="none")


def tree_seconds(pid=None):
    """Processor time of a process and of everything below it, now."""
    pid = pid or os.getpid()
    ticks = os.sysconf("SC_CLK_TCK")
    parents, spent = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(fields[1])
            spent[int(folder.name)] = sum(map(int, fields[11:15])) / ticks

    def below(one):
        return spent.get(one, 0) + sum(below(child) for child, parent in parents.items() if parent == one)

    return below(pid)


def session():
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    options = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "2g",
        "spark.sql.adaptive.enabled": "false",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,2048]").appName("dshap bench")
    for name, value in options.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    return found


def spent(work):
    """Processor seconds of some work, in this process and all below it."""
    before = tree_seconds()
    start = time.perf_counter()
    result = work()
    return tree_seconds() - before, time.perf_counter() - start, result


def by_command(folder, out):
    """Processor seconds of the command line: fit, then values."""
    files = str(folder / "*.parquet")
    valuer = out / "v.dshap"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for words in (
        ["fit", files, "--target", "y", "-o", valuer],
        ["value", files, "--valuer", valuer, "-o", out / "values.parquet"],
    ):
        subprocess.run([DSHAP, *map(str, words), "--quiet"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compared(spark, folder, out):
    from dshap import spark as on_cluster

    n, p = SIZE
    rows, small = folder / "rows", folder / "small"
    write(rows, n, p)
    write(small, n // 10, p)
    command = by_command(rows, out)
    df, less = spark.read.parquet(str(rows)), spark.read.parquet(str(small))
    on_cluster.fit(less, "y")  # Executors and their Python are started.

    def identity(frame):
        return frame.mapInArrow(lambda batches: batches, frame.schema).write.mode("overwrite").parquet(str(out / "same"))

    def fit_and_value(frame):
        valuer = on_cluster.fit(frame, "y")
        on_cluster.value(frame, valuer).select("value").write.mode("overwrite").parquet(str(out / "spark"))
        return valuer

    peak = []
    for frame in (less, df):
        same, _, _ = spent(lambda: identity(frame))
        both, wall, valuer = spent(lambda: fit_and_value(frame))
        peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    # Fit and values read the rows once each.
    limit = command + same
    print(f"{grouped(n)} × {p} rows (Parquet), `local-cluster[2,1,2048]`, fit and values written. Processor seconds, all processes.\n")
    print("| command line | Spark, identity `mapInArrow` | dshap on Spark | ratio to both | wall time |")
    print("|---|---|---|---|---|")
    print(f"| {command:.1f} | {same:.1f} | {both:.1f} | **{both / limit:.2f}** | {wall:.1f} s |\n")
    print("| rows | memory of the driver's Python | bytes of the valuer |")
    print("|---|---|---|")
    print(f"| {grouped(n // 10)} and {grouped(n)} | {peak[0]:.0f} and {peak[1]:.0f} MB | {grouped(len(valuer._fitted.to_bytes()))} |\n")


def model():
    """What a row and a state cost, without an engine: the functions that executors run."""
    from dshap import RegressionValuer, _spread
    from dshap._spread import Pass, Roles

    print("The functions that executors run, one thread, Arrow batches of 10 000 rows in memory:\n")
    print("| columns | rows fitted per core-second | rows valued per core-second | bytes of a state | 1e9 rows on 100 cores | 1e12 rows on 1 000 cores |")
    print("|---|---|---|---|---|---|")
    for p, n in ((10, 400_000), (100, 100_000), (1000, 20_000)):
        rng = np.random.default_rng(p)
        X = rng.normal(size=(n, p))
        y = X.sum(axis=1) + rng.normal(size=n)
        names = tuple(f"x{j}" for j in range(p))
        table = pa.table({**{name: X[:, j] for j, name in enumerate(names)}, "y": y})
        roles = Roles(names, "y")
        sizes, times = [], []

        def summed(waiting: Pass) -> bytes:
            batches = [table.slice(start, 10_000) for start in range(0, n, 10_000)]
            start = time.process_time()
            part = _spread.summed_partition(waiting, roles, batches, 0)
            times.append(time.process_time() - start)
            sizes.append(len(part))
            return part

        types = pa.table({name: pa.nulls(1, pa.float64()) for name in table.schema.names})
        valuer = _spread.fit(RegressionValuer(), roles, types, summed)
        data = valuer._fitted.to_bytes()
        start = time.process_time()
        for first in range(0, n, 10_000):
            _spread.valued(data, roles, table.slice(first, 10_000), ["value"])
        value = n / (time.process_time() - start)
        fit = n / times[-1]

        def hours(rows, cores):
            seconds = rows * (1 / fit + 1 / value) / cores
            return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min" if seconds < 36_000 else f"{seconds / 3600:.0f} h"

        cells = [p, grouped(round(fit)), grouped(round(value)), grouped(sizes[-1]), hours(1e9, 100), hours(1e12, 1000)]
        print(f"| {' | '.join(map(str, cells))} |")
    print("\nThe last two columns are computed from the two rates, not measured: one fit and one valuing, without reading,")
    print("shuffling and the engine's own work.\n")


def run():
    print("## Spark\n")
    model()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        out = folder / "out"
        out.mkdir()
        found = session()
        try:
            compared(found, folder, out)
        finally:
            found.stop()

