"""What a row and a column cost, method by method, checked at sizes that the model has not seen."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy.optimize import nnls

from timing import DSHAP, THREADS, grouped
from wide import tables

SMALL = bool(os.environ.get("DSHAP_BENCH_SMALL"))

# A method, whether its targets are labels, its options, and how many rows the largest table has.
METHODS = [
    ("gaussian", False, [], 4_000_000),
    ("calibrated", False, ["--method", "calibrated"], 2_000_000),
    ("gaussian, labels", True, ["--task", "classification"], 1_000_000),
    ("second-order", True, ["--task", "classification", "--method", "second-order"], 500_000),
    ("closed, densities (2 000 reference rows)", False, ["--task", "density", "--exclude", "y", "--samples", "2000", "--bandwidth", "1"], 400_000),
]
# One machine with many cores, and a cluster of such.
LARGE = 64
CLUSTER = 1_000


def rows_in(path, n, p, labels):
    writer = None
    for table in tables(n, p, labels):
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def seconds_of(path, options, out):
    """The better of two runs."""
    found = []
    for _ in range(2):
        start = time.perf_counter()
        target = [] if "density" in options else ["--target", "y"]
        subprocess.run([DSHAP, "value", path, *target, *options, "-o", out, "--quiet", "--threads", str(THREADS)], check=True)
        found.append(time.perf_counter() - start)
    return min(found)


def terms(n, p):
    """A start, the cells, and the products."""
    return [1.0, n * p, n * p * p]


def run():
    print("## What a row and a column cost\n")
    print("Seconds of a whole `dshap value` from Parquet, every row valued against the others:")
    print("`start + a · rows · columns + b · rows · columns²`. The coefficients are the non-negative least squares fit (of relative")
    print("errors) to four sizes. The check is at three others: the time of the model divided by the measured time.\n")
    print("| method | start | a | b | checked at (rows × columns) | model / measured |")
    print("|---|---|---|---|---|---|")
    known, models = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, labels, options, largest in METHODS:
            largest = largest // 40 if SMALL else largest
            out = Path(folder) / "values.parquet"
            fitted = [(largest // 20, 10), (largest // 4, 10), (largest // 20, 40), (largest // 40, 150)]
            checked = [(largest // 10, 20), (largest // 2, 10), (largest // 20, 80)]
            found = {}
            for n, p in fitted + checked:
                path = Path(folder) / "rows.parquet"
                rows_in(path, n, p, labels)
                found[n, p] = seconds_of(path, options, out)
            rows = np.array([terms(n, p) for n, p in fitted]) / np.array([[found[size]] for size in fitted])
            model, _ = nnls(rows, np.ones(len(fitted)))
            models[name] = model
            ratios = [float(model @ terms(n, p)) / found[n, p] for n, p in checked]
            sizes = ", ".join(f"{grouped(n)} × {p}" for n, p in checked)
            print(
                f"| {name} | {model[0]:.2f} s | {1e9 * model[1]:.2f} ns | {1e9 * model[2]:.3f} ns | {sizes} "
                f"| {', '.join(f'{ratio:.2f}' for ratio in ratios)} |",
                flush=True,
            )
    print(f"\n**Computed from this model, not measured**: 1 000 000 000 rows, on these {THREADS} cores, on {LARGE} such cores of one machine, and on")
    print(f"a cluster of {grouped(CLUSTER)} such cores, if time falls in proportion to cores and files are read fast enough:\n")
    print(f"| method | columns | {THREADS} cores | {LARGE} cores | {grouped(CLUSTER)} cores |")
    print("|---|---|---|---|---|")
    for name, model in models.items():
        for p in (20, 100):
            seconds = float(model @ terms(1e9, p))
            cells = [duration(seconds * THREADS / cores) for cores in (THREADS, LARGE, CLUSTER)]
            print(f"| {name} | {p} | {' | '.join(cells)} |")
    print()


def duration(seconds):
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7_200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.1f} h"
