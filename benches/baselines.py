"""D-Shapley beside a loop of scikit-learn fits, and KNN-Shapley beside the textbook. Prints Markdown.

Run by `./bench baselines`.
"""

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.stats import spearmanr
from sklearn.linear_model import LinearRegression

from timing import DSHAP, best, example, grouped


def by_scikit_learn(points, reference, test, q, m, iterations):
    """D-Shapley as it is usually written: every set is fitted anew, with and without each point. The models have no
    intercept and rows are centred by the reference, which is what dshap does by default."""
    rng = np.random.default_rng(1)
    centre, shift = reference[0].mean(axis=0), reference[1].mean()
    (x, y), (z, t), (xt, yt) = ((rows - centre, target - shift) for rows, target in (points, reference, test))

    def error(rows, target):
        model = LinearRegression(fit_intercept=False).fit(rows, target)
        return np.mean((yt - model.predict(xt)) ** 2)

    sums = np.zeros(len(y))
    for _ in range(iterations):
        size = rng.integers(q - 1, m)
        chosen = rng.choice(len(t), size, replace=False)
        rows, target = z[chosen], t[chosen]
        before = error(rows, target)
        for i in range(len(y)):
            sums[i] += before - error(np.vstack([rows, x[i]]), np.append(target, y[i]))
    return sums / iterations * (m - q + 1) / m


def d_shapley(n, m, p, iterations):
    q = p + max(p, 10)
    print("## D-Shapley beside scikit-learn\n")
    print(f"{n} points, sets of up to m = {m} of {grouped(5 * m)} reference rows, p = {p} columns, utility on {grouped(n)} test rows,")
    print(f"{iterations} iterations on either side, one thread. scikit-learn fits `LinearRegression` anew on every set, with and without")
    print("each point; `dshap value --method d-shapley` reads Parquet files and writes one, with everything in its time, best of three.\n")
    rng = np.random.default_rng(2)
    coef = rng.standard_normal(p)

    def rows(count):
        x = rng.standard_normal((count, p))
        return x, x @ coef + rng.standard_normal(count)

    tables = {"points": rows(n), "reference": rows(5 * m), "test": rows(n)}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, (x, y) in tables.items():
            pq.write_table(pa.table({f"x{j}": x[:, j] for j in range(p)} | {"y": y}), folder / f"{name}.parquet")
        command = [DSHAP, "value", folder / "points.parquet", "--reference", folder / "reference.parquet", "--test",
                   folder / "test.parquet", "--target", "y", "--task", "regression", "--method", "d-shapley", "--m", str(m), "--q",
                   str(q), "--samples", str(iterations), "--stop", "0", "--threads", "1", "--quiet", "-o",
                   folder / "values.parquet"]
        ours = best(lambda: subprocess.run(command, check=True, stderr=subprocess.DEVNULL))
        values = pq.read_table(folder / "values.parquet")["value"].to_numpy()
    start = time.perf_counter()
    loop = by_scikit_learn(tables["points"], tables["reference"], tables["test"], q, m, iterations)
    theirs = time.perf_counter() - start
    print("| scikit-learn | dshap | ratio | Spearman of the two |")
    print("|---|---|---|---|")
    print(f"| {theirs:.1f} s | {1e3 * ours:.0f} ms | **{theirs / ours:.0f}** | {spearmanr(values, loop).statistic:.3f} |\n")


def textbook(x, y, k):
    """KNN-Shapley as in the paper of Jia et al., every row a test row: all distances, all orders, then the recursion."""
    n = len(y)
    squares = (x**2).sum(axis=1)
    distances = squares[:, None] + squares[None] - 2 * x @ x.T
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1)[:, : n - 1]
    match = (y[order] == y[:, None]).astype(float)
    values = np.empty_like(match)
    values[:, -1] = match[:, -1] / (n - 1)
    for i in range(n - 3, -1, -1):
        values[:, i] = values[:, i + 1] + (match[:, i] - match[:, i + 1]) / k * min(k, i + 1) / (i + 1)
    total = np.zeros(n)
    np.add.at(total, order, values)
    return total / (n - 1)


def knn_shapley(small, large, tests, p):
    k = 5
    print("## KNN-Shapley beside the textbook\n")
    print(f"Two labels, {p} columns, k = {k}. The textbook form (NumPy, every row a test row for the others) has all distances and all")
    print(f"orders in memory, {24 * small**2 / 1e9:.1f} GB at {grouped(small)} rows; dshap goes through test rows one by one. Best of three; the textbook once.\n")
    rng = np.random.default_rng(3)
    x = rng.random((small, p))
    y = (x[:, 0] + 0.3 * rng.random(small) > 0.65).astype(float)
    theirs = best(lambda: textbook(x, y, k), 1)
    ours = example("measure_baselines", "knn-shapley-all", small, p)["seconds"]
    alone = example("measure_baselines", "knn-shapley", large, tests, p)["seconds"]
    print("| rows | test rows | textbook | dshap | ratio |")
    print("|---|---|---|---|---|")
    print(f"| {grouped(small)} | {grouped(small)} | {theirs:.2f} s | {ours:.2f} s | **{theirs / ours:.1f}** |")
    print(f"| {grouped(large)} | {tests} | {24 * large**2 / 1e9:.0f} GB would be needed | {alone:.2f} s | |\n")


def run():
    d_shapley(n=200, m=200, p=10, iterations=200)
    knn_shapley(small=6_000, large=100_000, tests=100, p=10)
