"""The game between owners, beside what its time must contain."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from timing import DSHAP, THREADS, example, grouped


def table(path, n, p, owner_of, noise_of, seed):
    """Writes rows of a linear model with the columns x0 …, y and owner, in row groups that fit into memory."""
    rng = np.random.default_rng(seed)
    beta = np.random.default_rng(1).normal(size=p)
    writer = None
    for start in range(0, n, 100_000):
        rows = np.arange(start, min(n, start + 100_000))
        X = rng.normal(size=(len(rows), p))
        owner = owner_of(rows)
        y = X @ beta + noise_of(owner) * rng.normal(size=len(rows))
        columns = {f"x{j}": X[:, j] for j in range(p)} | {"y": y, "owner": [f"v{g:04}" for g in owner]}
        batch = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, batch.schema, compression="none")
        writer.write_table(batch)
    writer.close()


def seconds(*words, rounds=3):
    """The best time of a command."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([DSHAP, *map(str, words), "--quiet"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found.append(time.perf_counter() - start)
    return min(found)


def few(folder, n, p, n_owners):
    rows, test = folder / "rows.parquet", folder / "test.parquet"
    table(rows, n, p, lambda rows: rows % n_owners, lambda owner: 1 + owner / 4, 2)
    table(test, 2000, p, lambda rows: rows % n_owners, lambda owner: np.ones(len(owner)), 3)
    fit = seconds("fit", rows, "--target", "y", "--exclude", "owner", "-o", folder / "v.dshap")
    solves = example("measure_owners", "solves", p, n_owners)["seconds"]
    game = seconds("owners", rows, "--by", "owner", "--target", "y", "--test", test, "--game-only", "-o", folder / "o.csv")
    limit = fit + solves
    print(f"{grouped(n)} × {p} rows of {n_owners} owners (Parquet), 2 000 test rows, {THREADS} threads, best of three.\n")
    print("| `fit` | 2^K Cholesky solves | both | `owners --game-only` | ratio |")
    print("|---|---|---|---|---|")
    print(f"| {fit:.2f} s | {solves:.2f} s | {limit:.2f} s | {game:.2f} s | {game / limit:.2f} |\n")


def many(folder, n_owners, n_rows, p):
    rows, test = folder / "many.parquet", folder / "many-test.parquet"
    # The noise of an owner is log-uniform between 0.5 and 8.
    noise = np.exp(np.random.default_rng(4).uniform(np.log(0.5), np.log(8), n_owners))
    table(rows, n_owners * n_rows, p, lambda rows: rows % n_owners, lambda owner: noise[owner], 5)
    table(test, 2000, p, lambda rows: rows % n_owners, lambda owner: np.ones(len(owner)), 6)
    out = folder / "many.json"
    took = seconds("owners", rows, "--by", "owner", "--target", "y", "--test", test, "--game-only", "-o", out, rounds=1)
    found = json.loads(out.read_text())
    values = np.array([line["shapley"] for line in found["owners"]])
    solved = found["solved"]
    print(f"{grouped(n_owners)} owners of {grouped(n_rows)} rows each, p = {p}; y = xᵀβ + noise, whose standard deviation is")
    print("log-uniform between 0.5 and 8 for each owner. Random orders until every standard error that comes from drawing is")
    print("below 5 % of the spread (standard deviation) of the owners' values.\n")
    print("| seconds | rounds | reached | spread of values | sum less total |")
    print("|---|---|---|---|---|")
    print(f"| {took:.1f} | {grouped(solved['rounds'])} | {solved['reached']} | {values.std(ddof=1):.3g} | {values.sum() - found['total']:.1e} |\n")


def run():
    small = bool(os.environ.get("DSHAP_BENCH_SMALL"))
    print("## Owners\n")
    with tempfile.TemporaryDirectory() as folder:
        few(Path(folder), 20_000 if small else 1_000_000, 20 if small else 100, 8 if small else 12)
        many(Path(folder), 60 if small else 1000, 50 if small else 1000, 5 if small else 20)
