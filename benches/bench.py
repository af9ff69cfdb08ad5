"""Measures dshap beside what its time must contain, in one run, and prints Markdown.

Run by ./bench, which builds dshap and its wheel and installs them, NumPy, SciPy and pyarrow.
"""

import importlib
import os
import platform
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa

from openblas import products, weighted_syrk
from timing import EXAMPLES, ROOT, ROUNDS, THREADS, best, grouped, measure


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
    orders = {"C order": X, "Fortran order": np.asfortranarray(X), "single precision, C order": X.astype(np.float32)}
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
        print(f"| {order} | {fits[order]:.3f} s | {seconds:.3f} s | {value:.3f} s | **{seconds / value:.2f}** |")
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


def of_module(name, part="run"):
    """A part that has a file of its own, with what it needs."""
    return lambda: getattr(importlib.import_module(name), part)()


PARTS = {
    "in-memory": of_module("limits", "regression"),
    "gram": of_module("limits", "gram"),
    "growth": of_module("limits", "growth"),
    "methods": methods,
    "files": of_module("files", "files"),
    "wide": of_module("wide"),
    "trials": of_module("trials"),
    "cost": of_module("cost_model"),
    "streaming": of_module("files", "streaming"),
    "csv": of_module("files", "csv"),
    "sizes": sizes,
    "algorithm-3": algorithm_3,
    "classification": of_module("limits", "classification"),
    "second-order": second_order,
    "algorithm-4": algorithm_4,
    "python": python,
    "density": of_module("density"),
    "neighbours": of_module("neighbours"),
    "owners": of_module("owners"),
    "spark": of_module("spark"),
    "serve": of_module("serve"),
    "label-noise": of_module("label_noise"),
    "suspects": of_module("cleaning", "suspects"),
    "clean": of_module("cleaning", "clean"),
    "estimators": of_module("estimators"),
    "ridge": of_module("ridge"),
    "first-answer": of_module("first_answer"),
    "observed": of_module("observed"),
    "baselines": of_module("baselines"),
    "neighbours-noise": of_module("neighbours_noise"),
    "second-order-truth": second_order_truth,
    "extensions": of_module("extensions"),
}

machine()
# Spark needs Java and an environment of its own size, so it is measured only when asked for.
for name in sys.argv[1:] or [name for name in PARTS if name != "spark"]:
    PARTS[name]()
    sys.stdout.flush()
