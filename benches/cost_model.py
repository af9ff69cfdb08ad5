"""What a row and a column cost, method by method, checked at sizes that the model has not seen."""

import math
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

# Rows that measure utility for neighbours, and rounds of sets that `general` draws: a fixed number of each.
TESTS = 200
ROUNDS = 16
# What the terms of the models count, each with its formula.
CELLS = ("rows · columns", lambda n, p: n * p)
PRODUCTS = ("rows · columns²", lambda n, p: n * p * p)
ROWS = ("rows", lambda n, p: n)
CUBES = ("columns³", lambda n, p: p**3)
DISTANCES = ("rows · columns · test rows", lambda n, p: n * p * TESTS)
SORTED = ("rows · log₂ rows · test rows", lambda n, p: n * math.log2(n) * TESTS)
# Cells are read, and the products are those of the fit and of the distances.
USUAL = (CELLS, PRODUCTS)
NEAR = (CELLS, DISTANCES, SORTED)

NEIGHBOURS = ["--task", "classification", "--samples", str(TESTS), "--method"]
# A method, whether its targets are labels, its options, its terms beside a start, and how many rows the largest table has.
METHODS = [
    ("gaussian", False, [], USUAL, 4_000_000),
    ("calibrated", False, ["--method", "calibrated"], USUAL, 2_000_000),
    ("lower", False, ["--method", "lower"], (ROWS, *USUAL), 2_000_000),
    ("upper", False, ["--method", "upper"], (ROWS, *USUAL), 2_000_000),
    ("gaussian, labels", True, ["--task", "classification"], USUAL, 1_000_000),
    ("second-order", True, ["--task", "classification", "--method", "second-order"], USUAL, 500_000),
    (
        "closed, densities (2 000 reference rows)",
        False,
        ["--task", "density", "--exclude", "y", "--samples", "2000", "--bandwidth", "1"],
        USUAL,
        400_000,
    ),
    (f"knn ({TESTS} test rows)", True, [*NEIGHBOURS, "knn"], NEAR, 400_000),
    (f"knn-shapley ({TESTS} test rows)", True, [*NEIGHBOURS, "knn-shapley"], NEAR, 400_000),
    (
        f"general ({ROUNDS} rounds, m = 500)",
        False,
        ["--method", "general", "--samples", str(ROUNDS), "--stop", "0", "--m", "500"],
        (*USUAL, CUBES),
        1_000_000,
    ),
]
# These hold all rows in memory, so a table of any size is beyond them.
HELD = ("knn", "general")
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


def terms(kinds, n, p):
    """A start, and what each term counts."""
    return [1.0, *(float(count(n, p)) for _, count in kinds)]


def formula(model, kinds):
    """A model as people read it, without terms that are nothing."""
    parts = [f"{model[0]:.2f} s"]
    parts += [f"{1e9 * cost:.3g} ns · {name}" for cost, (name, _) in zip(model[1:], kinds) if cost > 0]
    return " + ".join(parts)


def run():
    print("## What a row and a column cost\n")
    print("Seconds of a whole `dshap value` from Parquet, every row valued against the others: a start and terms of each method's own.")
    print("The coefficients are the non-negative least squares fit (of relative errors) to five sizes. The check is at three others:")
    print("the time of the model divided by the measured time.\n")
    print("| method | seconds | checked at (rows × columns) | model / measured |")
    print("|---|---|---|---|")
    models = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, labels, options, kinds, largest in METHODS:
            largest = largest // 40 if SMALL else largest
            out = Path(folder) / "values.parquet"
            fitted = [(largest // 20, 10), (largest // 4, 10), (largest // 20, 40), (largest // 40, 150), (largest // 2, 30)]
            checked = [(largest // 10, 20), (largest // 2, 10), (largest // 20, 80)]
            found = {}
            for n, p in fitted + checked:
                path = Path(folder) / "rows.parquet"
                rows_in(path, n, p, labels)
                found[n, p] = seconds_of(path, options, out)
            rows = np.array([terms(kinds, n, p) for n, p in fitted]) / np.array([[found[size]] for size in fitted])
            model, _ = nnls(rows, np.ones(len(fitted)))
            models[name] = model, kinds
            ratios = [float(model @ terms(kinds, n, p)) / found[n, p] for n, p in checked]
            sizes = ", ".join(f"{grouped(n)} × {p}" for n, p in checked)
            print(
                f"| {name} | {formula(model, kinds)} | {sizes} "
                f"| {', '.join(f'{ratio:.2f}' for ratio in ratios)} |",
                flush=True,
            )
    print(f"\n**Computed from this model, not measured**: 1 000 000 000 rows, on these {THREADS} cores, on {LARGE} such cores of one machine, and on")
    print(f"a cluster of {grouped(CLUSTER)} such cores, if time falls in proportion to cores and files are read fast enough:\n")
    print(f"| method | columns | {THREADS} cores | {LARGE} cores | {grouped(CLUSTER)} cores |")
    print("|---|---|---|---|---|")
    for name, (model, kinds) in models.items():
        if name.startswith(HELD):
            continue
        for p in (20, 100):
            seconds = float(model @ terms(kinds, 10**9, p))
            cells = [duration(seconds * THREADS / cores) for cores in (THREADS, LARGE, CLUSTER)]
            print(f"| {name} | {p} | {' | '.join(cells)} |")
    print()


def duration(seconds):
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7_200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.1f} h"
