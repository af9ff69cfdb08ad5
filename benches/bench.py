"""Measures dshap beside what its time must contain, in one run, and prints Markdown.

Run by ./bench, which builds dshap and its wheel and installs them, NumPy, SciPy and pyarrow.
"""

import importlib
import os
import platform
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import scipy.linalg.blas as blas

from timing import DSHAP, EXAMPLES, ROOT, ROUNDS, THREADS, best, grouped, measure, run_with_peak


def products(n, p):
    """Seconds OpenBLAS takes for syrk and for the triangular solve, blocked over rows."""
    x = np.asfortranarray(np.random.default_rng(1).random((n, p)) - 0.5)
    gram = x.T @ x
    lower = np.asfortranarray(np.linalg.cholesky(gram))

    def solve(block):
        for start in range(0, n, block):
            z = blas.dtrsm(1.0, lower, x[start : start + block].T, lower=1)
            np.einsum("ij,ij->j", z, z)

    syrk = min(best(lambda: x.T @ x), best(lambda: blas.dsyrk(1.0, x, trans=1, lower=1)))
    trsm = min(best(lambda: solve(block)) for block in (512, 2048, 8192))
    return syrk, trsm


def in_memory():
    print("## In memory: fit and value against the two matrix products\n")
    print(f"Doubles, {THREADS} threads. `syrk` and `trsm` are NumPy/SciPy with OpenBLAS (the better of two calls and of")
    print(f"three block sizes, warmed, best of three); both sides alternate {ROUNDS} times and the best counts.\n")
    print("| rows × columns | syrk | dshap fit | trsm | dshap value | ratio of the sums |")
    print("|---|---|---|---|---|---|")
    for n, p in [(200_000, 100), (50_000, 1_000)]:
        rounds = [(products(n, p), measure("in-memory", n, p)) for _ in range(ROUNDS)]
        syrk, trsm = (min(r[0][k] for r in rounds) for k in (0, 1))
        fit, value = (min(r[1][k] for r in rounds) for k in ("fit", "value"))
        ratio = (fit + value) / (syrk + trsm)
        print(f"| {grouped(n)} × {grouped(p)} | {syrk:.3f} s | {fit:.3f} s | {trsm:.3f} s | {value:.3f} s | **{ratio:.2f}** |")
    print()


def methods():
    print("## What the other methods of regression cost\n")
    n, p = 5_000, 10
    print(f"{grouped(n)} rows × {p} columns of doubles, each row against the others, fit included, {THREADS} threads, sets of up to 500")
    print("(the bounds: of up to all rows). `general` draws until its errors are 2 % of the spread of the values.\n")
    results = measure("methods", n, p)
    gaussian = results["gaussian"]["seconds"]
    print("| method | seconds | times `gaussian` | rounds drawn |")
    print("|---|---|---|---|")
    for name, row in results.items():
        print(f"| {name} | {row['seconds']:.3g} | {row['seconds'] / gaussian:.3g} | {row['rounds'] or ''} |")
    print()
    print("Moments held as a triangle, for columns that are nearly combinations of others, beside sums of products:\n")
    print("| rows × columns | products | triangle | ratio |")
    print("|---|---|---|---|")
    for n, p in [(1_000_000, 20), (200_000, 100), (50_000, 500)]:
        forms = measure("forms", n, p)
        ratio = forms["triangle"] / forms["products"]
        print(f"| {grouped(n)} × {p} | {forms['products']:.3f} s | {forms['triangle']:.3f} s | {ratio:.1f} |")
    print()


def weighted_syrk(n, p):
    """Seconds NumPy takes for XᵀWX with the weights given: rows scaled by √W, then OpenBLAS, blocked over rows so that
    the scaled copy stays in cache."""
    x = np.asfortranarray(np.random.default_rng(1).random((n, p)) - 0.5)
    root = np.sqrt(np.random.default_rng(2).random(n))

    def one_pass(block):
        gram = np.zeros((p, p), order="F")
        for start in range(0, n, block):
            rows = x[start : start + block]
            weighted = rows * root[start : start + block, None]
            gram = blas.dsyrk(1.0, weighted, beta=1.0, c=gram, trans=1, lower=1, overwrite_c=1)
        return gram

    return min(best(lambda: one_pass(block)) for block in (1024, 4096, 16384, 65536))


def classification():
    n, p = 500_000, 100
    print("## Labels: the whole job against its passes\n")
    print(f"{grouped(n)} × {p} doubles in memory, two labels, {THREADS} threads; fit and value of every row against the others. A pass")
    print("is `XᵀWX` with the weights given, by NumPy with OpenBLAS (the best of four block sizes, best of three); dshap's passes")
    print("also form the linear predictor, the probabilities and the gradient.")
    print(f"Both sides alternate {ROUNDS} times and the best counts.\n")
    rounds = [(weighted_syrk(n, p), measure("classification", n, p)) for _ in range(ROUNDS)]
    syrk = min(r[0] for r in rounds)
    fit, value = (min(r[1][k] for r in rounds) for k in ("fit", "value"))
    passes = rounds[0][1]["passes"]
    print("| one pass by NumPy | passes | dshap fit | dshap value | (fit + value) / (passes × one pass) |")
    print("|---|---|---|---|---|")
    print(f"| {syrk:.3f} s | {passes} | {fit:.3f} s | {value:.3f} s | **{(fit + value) / (passes * syrk):.2f}** |\n")


def second_order():
    n, p = 100_000, 50
    print("## Refitted models: moments and values against what they must contain\n")
    print(f"{grouped(n)} × {p} doubles in memory, two labels, {THREADS} threads, log-loss: after the fit, the moments of models that are")
    print("refitted on each set (two passes) and the values of all rows, left out one by one. Beside it one weighted `XᵀWX` and one")
    print("triangular solve with row norms, by NumPy with OpenBLAS (the best of several block sizes, best of three).")
    print(f"Both sides alternate {ROUNDS} times and the best counts.\n")
    rounds = [(weighted_syrk(n, p), products(n, p)[1], measure("second-order", n, p)) for _ in range(ROUNDS)]
    syrk, trsm = (min(r[k] for r in rounds) for k in (0, 1))
    moments, value = (min(r[2][k] for r in rounds) for k in ("moments", "value"))
    print("| weighted syrk | triangular solve | dshap moments | dshap values | (moments + values) / (syrk + solve) |")
    print("|---|---|---|---|---|")
    ratio = (moments + value) / (syrk + trsm)
    print(f"| {syrk:.4f} s | {trsm:.4f} s | {moments:.4f} s | {value:.4f} s | **{ratio:.2f}** |\n")


def second_order_truth():
    print("## Every classification value beside models that are really refitted\n")
    print(subprocess.run([EXAMPLES / "refitted_truth"], check=True, capture_output=True, text=True).stdout)


def algorithm_4():
    print("## Algorithm 4 beside its table\n")
    print("The printed lower bound at p = 30, q = 100, m = 1000; per row, one thread, both in Rust. The loop adds up term by")
    print("term, to the end or until a term is below 0.005 of the sum, as the paper does, which loses the tail.\n")
    found = measure("algorithm-4")
    print("| | µs per row | times the table |")
    print("|---|---|---|")
    for name, label in [("table", "table"), ("complete", "loop to the end"), ("stopped", "loop with ρ = 0.005")]:
        print(f"| {label} | {1e6 * found[name]:.3g} | {found[name] / found['table']:.0f} |")
    print()


def files():
    n, p = 500_000, 20
    rng = np.random.default_rng(2)
    x = rng.standard_normal((n, p))
    columns = {f"x{j}": x[:, j] for j in range(p)} | {"y": x @ rng.standard_normal(p) + rng.standard_normal(n)}
    table = pa.table(columns)
    print("## From file to file\n")
    print(f"{grouped(n)} rows, {p} features and a target, {THREADS} threads; `dshap value` reads the file twice and writes all")
    print("values (`-o values.csv`); pyarrow reads the same file once into memory. MB of the input file per second,")
    print("best of three, alternating.\n")
    print("| file | size | pyarrow reads | dshap values | MB/s pyarrow | MB/s dshap |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        csv, parquet = Path(folder) / "rows.csv", Path(folder) / "rows.parquet"
        pa.csv.write_csv(table, csv)
        pq.write_table(table, parquet, row_group_size=100_000)
        for path, read in [(csv, lambda: pa.csv.read_csv(csv)), (parquet, lambda: pq.read_table(parquet))]:
            command = [DSHAP, "value", path, "--target", "y", "--quiet", "-o", Path(folder) / "values.csv"]
            value = lambda: subprocess.run([*command, "--threads", str(THREADS)], check=True)
            rounds = [(best(read, 1), best(value, 1)) for _ in range(ROUNDS + 1)]
            reading, valuing = (min(r[k] for r in rounds) for k in (0, 1))
            size = path.stat().st_size / 1e6
            kind = path.suffix[1:]
            print(f"| {kind} | {size:.0f} MB | {reading:.2f} s | {valuing:.2f} s | {size / reading:.0f} | {size / valuing:.0f} |")
    print()


def streaming():
    n, p, block = 2_000_000, 100, 100_000
    limit = "512MB"
    print("## Larger than memory\n")
    print(f"Parquet, {grouped(n)} rows, {p} features and a target, doubles, `--memory {limit}`, {THREADS} threads, best of three,")
    print("alternating; the file is in the page cache. Must cost: pyarrow hands over the same batches (`iter_batches`,")
    print("threads on), once for `fit` and `value --valuer`, twice for `value`, plus OpenBLAS `syrk` and `trsm` of that many rows.")
    print("`fit` also takes the SHA-256 of the file, `value` also writes all values as Parquet.\n")
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        path, valuer = Path(folder) / "rows.parquet", Path(folder) / "sample.dshap"
        beta, writer = rng.standard_normal(p), None
        for _ in range(0, n, block):
            x = rng.standard_normal((block, p))
            table = pa.table({f"x{j}": x[:, j] for j in range(p)} | {"y": x @ beta + rng.standard_normal(block)})
            writer = writer or pq.ParquetWriter(path, table.schema, compression="snappy")
            writer.write_table(table)
        writer.close()
        sample = Path(folder) / "sample.parquet"
        pq.write_table(table, sample)
        subprocess.run([DSHAP, "fit", sample, "--target", "y", "-o", valuer, "--quiet"], check=True)

        def read():
            for batch in pq.ParquetFile(path).iter_batches(batch_size=40_000, use_threads=True):
                batch.num_rows

        shared = ["--memory", limit, "--threads", str(THREADS), "--quiet"]
        out = ["-o", Path(folder) / "values.parquet"]
        jobs = {
            "fit": ([DSHAP, "fit", path, "--target", "y", "-o", Path(folder) / "rows.dshap", *shared], 1, (1, 0)),
            "value --valuer": ([DSHAP, "value", path, "--valuer", valuer, *out, *shared], 1, (0, 1)),
            "value": ([DSHAP, "value", path, "--target", "y", *out, *shared], 2, (1, 1)),
        }
        small = products(n // 10, p)
        reading, runs = [], {name: [] for name in jobs}
        for _ in range(ROUNDS):
            reading.append(best(read, 1))
            for name, (command, _, _) in jobs.items():
                runs[name].append(run_with_peak(command))
        size = path.stat().st_size / 1e6
        print(f"The file has {size:.0f} MB; pyarrow reads it in {min(reading):.2f} s; syrk takes {10 * small[0]:.2f} s, trsm {10 * small[1]:.2f} s.\n")
        print("| command | peak resident | dshap | must cost | share of the necessary speed | MB/s of the file |")
        print("|---|---|---|---|---|---|")
        for name, (_, passes, (syrk, trsm)) in jobs.items():
            seconds, peak = min(r[0] for r in runs[name]), max(r[1] for r in runs[name])
            must = passes * min(reading) + 10 * (syrk * small[0] + trsm * small[1])
            print(f"| `{name}` | {peak:.0f} MB | {seconds:.2f} s | {must:.2f} s | {100 * must / seconds:.0f} % | {size / seconds:.0f} |")
    print()


def csv_threads():
    n, p = 1_000_000, 20
    print("## CSV at several threads\n")
    print(f"{grouped(n)} rows, {p} features and a target; `dshap fit` reads the file once and takes its SHA-256; pyarrow reads the")
    print("same columns. MB of the file per second, best of three, alternating.\n")
    rng = np.random.default_rng(4)
    x = rng.standard_normal((n, p))
    table = pa.table({f"x{j}": x[:, j] for j in range(p)} | {"y": x @ rng.standard_normal(p) + rng.standard_normal(n)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        pa.csv.write_csv(table, path)
        size = path.stat().st_size / 1e6
        print("| threads | dshap fit | pyarrow.csv | peak resident of dshap |")
        print("|---|---|---|---|")
        for threads in range(1, THREADS + 1):
            pa.set_cpu_count(threads)
            command = [DSHAP, "fit", path, "--target", "y", "--quiet", "--threads", str(threads), "-o", Path(folder) / "v.dshap"]
            rounds = [(run_with_peak(command), best(lambda: pa.csv.read_csv(path), 1)) for _ in range(ROUNDS)]
            seconds, peak = min(r[0][0] for r in rounds), max(r[0][1] for r in rounds)
            print(f"| {threads} | {size / seconds:.0f} | {size / min(r[1] for r in rounds):.0f} | {peak:.0f} MB |")
        pa.set_cpu_count(THREADS)
    print()


def sizes():
    print("## Time against m\n")
    print("Building the closed form for p = 10, q = 20 and valuing 10 000 rows with it, one thread, best of three.\n")
    seconds = measure("sizes")
    print("| m | " + " | ".join(f"1e{len(m) - 1}" for m in seconds) + " |")
    print("|---" * (len(seconds) + 1) + "|")
    print("| ms | " + " | ".join(f"{1e3 * s:.1f}" for s in seconds.values()) + " |\n")


def algorithm_3():
    print("## Algorithm 3 beside the closed form\n")
    print("p = 10, q = 50, m = 1000; per row, one thread. Share: mean of estimate over exact printed sum; error: mean of")
    print("|share − 1|.\n")
    results = measure("algorithm-3")
    exact = results["exact"]["seconds"]
    print("| method | µs per row | times slower | share of the sum | error |")
    print("|---|---|---|---|---|")
    for name, row in results.items():
        label = "closed form" if name == "exact" else f"Algorithm 3, {name}"
        print(f"| {label} | {1e6 * row['seconds']:.3g} | {grouped(round(row['seconds'] / exact))} | {row['share']:.3f} | {row['error']:.3f} |")
    print()


def python():
    n, p = 1_000_000, 20
    print("## From Python\n")
    print(f"`RegressionValuer.value` on {grouped(n)} × {p} doubles of NumPy beside `LinearValuer::values` in Rust on as many rows")
    print(f"(column-major), {THREADS} threads, both alternating {ROUNDS + 2} times, best of three each time, the best counts; fitted before.\n")
    import dshap

    rng = np.random.default_rng(5)
    X = rng.random((n, p)) - 0.5
    y = X[:, 0] - X[:, -1] + rng.random(n) - 0.5
    orders = {"C": X, "Fortran": np.asfortranarray(X)}
    valuer = dshap.RegressionValuer(q=2 * p, keep_training=False)
    fits, values, rust = {}, {order: [] for order in orders}, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for order, array in orders.items():
            fits[order] = best(lambda: valuer.fit(array, y))
    for _ in range(ROUNDS + 2):
        rust.append(measure("in-memory", n, p))
        for order, array in orders.items():
            values[order].append(best(lambda: valuer.value(array, y)))
    fit, value = (min(r[k] for r in rust) for k in ("fit", "value"))
    print("| array | fit | value | value in Rust | ratio |")
    print("|---|---|---|---|---|")
    for order in orders:
        seconds = min(values[order])
        print(f"| {order} order | {fits[order]:.3f} s | {seconds:.3f} s | {value:.3f} s | **{seconds / value:.2f}** |")
    print(f"\n(Fitting in Rust: {fit:.3f} s, without looking whether the inputs are Gaussian.) One row of {p} features in a call:\n")
    row, target, calls = X[:1].copy(), y[:1].copy(), 20_000
    seconds = best(lambda: [valuer.value(row, target) for _ in range(calls)]) / calls
    print(f"**{1e6 * seconds:.1f} µs**\n")


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    flags = next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "")
    vector = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
    print(f"Made by `./bench` at commit {commit} on {os.cpu_count()} cores of {cpu} ({vector}), {platform.system()};")
    print(f"NumPy {np.__version__}, pyarrow {pa.__version__}.\n")


def of_module(name):
    """A part that has a file of its own, with what it needs."""
    return lambda: importlib.import_module(name).run()


PARTS = {
    "in-memory": in_memory,
    "methods": methods,
    "files": files,
    "streaming": streaming,
    "csv": csv_threads,
    "sizes": sizes,
    "algorithm-3": algorithm_3,
    "classification": classification,
    "second-order": second_order,
    "algorithm-4": algorithm_4,
    "python": python,
    "density": of_module("density"),
    "neighbours": of_module("neighbours"),
    "label-noise": of_module("label_noise"),
    "baselines": of_module("baselines"),
    "neighbours-noise": of_module("neighbours_noise"),
    "second-order-truth": second_order_truth,
}

machine()
for name in sys.argv[1:] or PARTS:
    PARTS[name]()
    sys.stdout.flush()
