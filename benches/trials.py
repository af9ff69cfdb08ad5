"""How long `evaluate`, `compare` and `clean` take on a table of ordinary size, with their default methods."""

import json
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from timing import DSHAP, THREADS, grouped

SMALL = bool(os.environ.get("DSHAP_BENCH_SMALL"))
LIMIT = 60


def write(path, n, p, labels):
    """Rows of a linear or a logistic model, of which a twentieth have a wrong target."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((n, p))
    score = x @ rng.standard_normal(p) / np.sqrt(p)
    wrong = rng.random(n) < 0.05
    if labels:
        y = rng.random(n) < 1 / (1 + np.exp(-3 * score))
        y = np.where(y ^ wrong, "yes", "no")
    else:
        y = score + 0.5 * rng.standard_normal(n) + np.where(wrong, 4.0, 0.0)
    pq.write_table(pa.table({f"x{j}": x[:, j] for j in range(p)} | {"y": y}), path)


def seconds_of(*words):
    start = time.perf_counter()
    subprocess.run([DSHAP, *map(str, words), "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def run():
    n, p = (5_000, 20) if SMALL else (50_000, 60)
    print("## Evaluating, comparing and cleaning\n")
    print(f"{grouped(n)} × {p} rows in Parquet, default methods and options, {THREADS} threads, each command once. The target is a")
    print("minute.\n")
    print("| command | numbers | labels |")
    print("|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        paths = {labels: Path(folder) / f"rows-{labels}.parquet" for labels in (False, True)}
        for labels, path in paths.items():
            write(path, n, p, labels)
        for command in ("evaluate", "compare", "clean"):
            cells = []
            for path in paths.values():
                out = Path(folder) / f"{command}.csv"
                out.unlink(missing_ok=True)
                took = seconds_of(command, path, "--target", "y", "-o", out)
                cells.append(f"{took:.1f} s" + ("" if took <= LIMIT else f" **missed**: at most {LIMIT} s"))
            print(f"| `{command}` | " + " | ".join(cells) + " |", flush=True)
        print()
        processor_time(Path(folder))


def processor_time(folder):
    """What `evaluate` takes beside the time that it reports for the methods."""
    n, p = (1_000, 14) if SMALL else (4_000, 14)
    methods = "gaussian,second-order,knn,loo"
    write(folder / "few.parquet", n, p, labels=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = ("--target", "y", "--methods", methods, "--summary", folder / "s.json", "-o", folder / "few.csv")
    took = seconds_of("evaluate", folder / "few.parquet", *words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    own = sum(method["seconds"] for method in json.loads((folder / "s.json").read_text())["methods"])
    print(f"`evaluate` of {grouped(n)} × {p} rows with two labels by `{methods}`: the methods report their own seconds; the rest is for")
    print("curves and the models on them.\n")
    print("| seconds | processor time | the methods' own seconds | processor time / own seconds |")
    print("|---|---|---|---|")
    print(f"| {took:.1f} s | {used:.1f} s | {own:.1f} s | {used / own:.1f} |\n")
