"""Sums of kernels beside a plain loop and beside scikit-learn, and a million points. Prints Markdown.

Run by `./bench density`.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.neighbors import KernelDensity

import dshap
from timing import DSHAP, ROUNDS, THREADS, best, example, grouped, run_with_peak


def against_a_plain_loop():
    points, rows, p = 5_000, 2_000, 32
    print("## Sums of kernels beside a plain loop\n")
    print(f"{grouped(points)} points × {grouped(rows)} reference rows, {p} columns, one thread; nanoseconds for each pair of a point and a row,")
    print("best of three. Both sides give the sums of k and of k\\*k. The loop, in Rust as well, has rows in memory order and the")
    print("exponential of the standard library.\n")
    found = example("density_speed", points, rows, p, threads=1)
    plain = found.pop("plain loop, gaussian")
    print("| | ns per pair | plain loop / this |")
    print("|---|---|---|")
    print(f"| plain loop, gaussian | {plain:.1f} | 1 |")
    for name, nanoseconds in found.items():
        ratio = f"**{plain / nanoseconds:.1f}**" if name == "gaussian" else f"{plain / nanoseconds:.1f}"
        print(f"| {name} | {nanoseconds:.2f} | {ratio} |")
    print()


def algorithm_5(reference, points, h, draws_per_point):
    """Algorithm 5's three means for every point, by scikit-learn. With draws of their own, points need an estimate
    each; with draws in common one serves all."""
    rng = np.random.default_rng(1)
    plain = np.exp(KernelDensity(bandwidth=h).fit(reference).score_samples(points))
    if draws_per_point:
        convolved = []
        for point in points:
            moved = reference - h * rng.standard_normal(reference.shape)
            convolved.append(KernelDensity(bandwidth=h).fit(moved).score_samples(point[None])[0])
    else:
        moved = reference - h * rng.standard_normal(reference.shape)
        convolved = KernelDensity(bandwidth=h).fit(moved).score_samples(points)
    origin = KernelDensity(bandwidth=h).fit(np.zeros((1, points.shape[1])))
    square = np.exp(origin.score_samples(h * rng.standard_normal(reference.shape))).mean()
    return square, plain, np.exp(convolved)


def against_scikit_learn():
    n, rows = 200, 2_000
    print("## Densities beside scikit-learn\n")
    print(f"Values of {n} points against {grouped(rows)} reference rows. scikit-learn's `KernelDensity` does the evaluations of the")
    print("paper's Algorithm 5, with draws of their own for every point, as the algorithm has it, and with draws shared by all points, the")
    print(f"least it can be made to do; dshap is `DensityValuer.value` from Python, exact, {THREADS} threads. Bandwidth given, fits of")
    print(f"dshap included. Alternating {ROUNDS} times, best of three each time.\n")
    print("| columns | Algorithm 5 | shared draws | dshap | Algorithm 5 / dshap | shared / dshap |")
    print("|---|---|---|---|---|---|")
    rng = np.random.default_rng(2)
    for p in (8, 32):
        reference, points, h = rng.standard_normal((rows, p)), rng.standard_normal((n, p)), 1.0
        valuer = dshap.DensityValuer(bandwidth=h, scale="none", keep_training=False)

        def ours():
            return valuer.fit(reference).value(points)

        times = [(best(lambda: algorithm_5(reference, points, h, True), 1),
                  best(lambda: algorithm_5(reference, points, h, False)), best(ours)) for _ in range(ROUNDS)]
        own, shared, seconds = (min(column) for column in zip(*times))
        print(f"| {p} | {1e3 * own:.0f} ms | {1e3 * shared:.1f} ms | {1e3 * seconds:.2f} ms | **{own / seconds:.0f}** | {shared / seconds:.0f} |")
    print()


def a_million_points():
    n, rows, p = 1_000_000, 2_000, 10
    print("## A million points\n")
    print(f"`dshap value --task density`, {grouped(n)} points of a Parquet file × {grouped(rows)} reference rows, {p} columns, bandwidth by")
    print(f"cross-validation, {THREADS} threads, values written as Parquet; once.\n")
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, count in [("points", n), ("reference", rows)]:
            x = rng.standard_normal((count, p))
            files[name] = Path(folder) / f"{name}.parquet"
            pq.write_table(pa.table({f"x{j}": x[:, j] for j in range(p)}), files[name])
        command = [DSHAP, "value", files["points"], "--reference", files["reference"], "--task", "density",
                   "--threads", str(THREADS), "--quiet", "-o", Path(folder) / "values.parquet"]
        seconds, peak = run_with_peak(command)
    print("| seconds | ns per pair | points a second | peak resident |")
    print("|---|---|---|---|")
    print(f"| {seconds:.1f} | {1e9 * seconds / (n * rows):.2f} | {grouped(round(n / seconds))} | {peak:.0f} MB |\n")


def run():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        against_a_plain_loop()
        against_scikit_learn()
        a_million_points()
