"""How long values by nearest neighbours take, beside the textbook. Prints Markdown.

Run by `./bench neighbours`.
"""

import os
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from timing import DSHAP, THREADS, best, example, grouped, run_with_peak

K = 5

#: Sizes that only show that everything runs.
SMALL = "DSHAP_BENCH_SMALL" in os.environ


def measure(*args):
    return example("measure_neighbours", *args)


def numpy_shapley(x, y, k):
    """KNN-Shapley by the recursion of Jia et al. (2019), one test row after the other, distances by one matrix product.
    Every row is a test row, left out of its own list."""
    n = len(y) - 1
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    square = np.einsum("ij,ij->i", x, x)
    distances = square - 2 * x @ x.T
    places = np.arange(1, n)
    weights = np.minimum(k, places) / places / k
    total = np.zeros(n + 1)
    for t, row in enumerate(distances):
        order = np.argsort(row)
        order = order[order != t]
        agrees = (y[order] == y[t]).astype(float)
        value = np.empty(n)
        value[-1] = agrees[-1] / n
        value[:-1] = value[-1] + np.cumsum((weights * (agrees[:-1] - agrees[1:]))[::-1])[::-1]
        total[order] += value
    return total / n


def drawn(n, p, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    return x, (x[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(int)


def write(path, x, y):
    pq.write_table(pa.table({f"x{j}": x[:, j] for j in range(x.shape[1])} | {"y": y}), path)


def beside_the_textbook(n):
    p = 32
    print(f"{grouped(n)} rows × {p}, two labels, k = {K}, every row a test row for all others. The textbook in Rust is the recursion on a")
    print(f"matrix of all distances, {8 * n * n / 1e6:.0f} MB, one thread; the one in NumPy sorts one test row after the other, with its")
    print(f"distances by one matrix product. dshap: {THREADS} threads.\n")
    found = measure("textbook", n)
    x, y = drawn(n, p, 1)
    seconds = best(lambda: numpy_shapley(x, y, K), 1)
    print("| | seconds | times `knn-shapley` |")
    print("|---|---|---|")
    rows = {
        "dshap `knn-shapley`": found["finite"],
        "dshap `knn`": found["distributional"],
        "textbook in Rust": found["textbook, one thread"],
        "textbook in NumPy": seconds,
    }
    for name, seconds in rows.items():
        print(f"| {name} | {seconds:.2f} | {seconds / found['finite']:.1f} |")
    print(f"\nLargest difference between dshap and the textbook: {found['largest difference']:.1e}.\n", flush=True)


def a_million_rows(n, n_tests):
    p = 32
    print(f"Alone: {grouped(n)} reference rows × {p} in Parquet, {grouped(n_tests)} test rows in another file, `dshap value` of all reference rows")
    print(f"against each other, {THREADS} threads; there are two passes (three with labels) and the values are written.\n")
    print("| | seconds | peak resident | reference rows × test rows per second |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        rows, tests, out = (Path(folder) / name for name in ("rows.parquet", "tests.parquet", "values.parquet"))
        write(rows, *drawn(n, p, 2))
        write(tests, *drawn(n_tests, p, 3))
        for name, flags in [("labels", ["--task", "classification"]), ("numbers", ["--task", "regression"])]:
            for method in ("knn", "knn-shapley"):
                command = [DSHAP, "value", rows, "--test", tests, "--target", "y", "--method", method, *flags]
                # Progress shows where standard error is a terminal.
                seconds, peak = run_with_peak([*command, "--threads", str(THREADS), "-o", out])
                print(f"| `{method}`, {name} | {seconds:.1f} | {peak:.0f} MB | {n * n_tests / seconds:.2e} |", flush=True)
    print()


#: Milliseconds that one unseen row may take, by the number of reference rows.
TARGETS = {10_000: 5, 1_000_000: 50}


def one_by_one(cases, n_tests):
    p = 32
    print(f"Unseen rows that come one by one, {p} columns, {grouped(n_tests)} test rows: ms for one row by sorting the reference anew and by")
    targets = " and ".join(f"{ms} ms at {grouped(n)} reference rows" for n, ms in TARGETS.items())
    print(f"lists that are kept, with the same bits. The target is {targets}.\n")
    print("| reference rows | tolerance | target | sorted anew | kept lists | ratio | in time | making the lists | MB in memory | MB in the file |")
    print("|---" * 10 + "|")
    for n, tolerance in cases:
        for name, found in measure("kept", n, n_tests, p, tolerance).items():
            sorted_anew, kept = 1e3 * found["sorted"], 1e3 * found["kept"]
            target = {"classification": "labels", "regression": "numbers"}[name]
            limit = TARGETS.get(n)
            held = "" if limit is None else "met" if kept <= limit else f"**missed**: at most {limit} ms"
            print(
                f"| {grouped(n)} | {tolerance:g} | {target} | {sorted_anew:.0f} | {kept:.2f} | {sorted_anew / kept:.0f} | {held} "
                f"| {1e3 * (found['build'] + found['first']):.0f} | {found['bytes'] / 1e6:.0f} "
                f"| {found['file_bytes'] / 1e6:.0f} |",
                flush=True,
            )
    print()


def growth(n):
    print("Growth of leave-one-out values with the reference (64 test rows, 8 columns), and with k, q and m:\n")
    seconds = measure("rows", 8)
    print("| rows | " + " | ".join(grouped(int(rows)) for rows in seconds) + " |")
    print("|---" * (len(seconds) + 1) + "|")
    print("| ms | " + " | ".join(f"{1e3 * s:.1f}" for s in seconds.values()) + " |\n")
    print(f"| {grouped(n)} rows | ms |")
    print("|---|---|")
    for name, found in measure("sizes", n).items():
        print(f"| {name} | {1e3 * found:.1f} |")
    print(flush=True)


def by_an_index(n, n_tests):
    found = {tuple(map(int, name.split())): times for name, times in measure("index", n, n_tests).items()}
    columns = sorted({p for p, _ in found})
    print(f"Large q, {grouped(n)} rows, {n_tests} test rows: ms by blocks of all distances / by an index that is there; last, ms of building it (median).\n")
    print("| q (rows with weight) | " + " | ".join(f"{p} column{'s' * (p > 1)}" for p in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for q in sorted({q for _, q in found}):
        cells = [f"{1e3 * found[p, q]['blocks']:.0f} / {1e3 * found[p, q]['index']:.0f}" for p in columns]
        print(f"| {grouped(q)} ({grouped(found[columns[0], q]['listed'])}) | " + " | ".join(cells) + " |")
    build = [median(times["build"] for (p, _), times in found.items() if p == column) for column in columns]
    print("| building | " + " | ".join(f"{1e3 * seconds:.0f}" for seconds in build) + " |\n", flush=True)


def run():
    print("## Nearest neighbours\n")
    beside_the_textbook(1_000 if SMALL else 10_000)
    a_million_rows(*((20_000, 50) if SMALL else (1_000_000, 1_000)))
    whole, short = 1e-16, 0.001
    large = [(1_000, whole), (10_000, whole), (100_000, whole), (1_000_000, short)]
    one_by_one([(1_000, whole), (10_000, short)] if SMALL else large, 100 if SMALL else 1_000)
    growth(10_000 if SMALL else 1_000_000)
    for n in [20_000] if SMALL else [100_000, 1_000_000]:
        by_an_index(n, 64)
