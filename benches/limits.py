"""Fit and value in memory beside the matrix products they must contain, and how both grow."""

import math
import os

from openblas import products, syrk_in_blocks, weighted_syrk
from timing import ROUNDS, THREADS, grouped, measure

SMALL = bool(os.environ.get("DSHAP_BENCH_SMALL"))
# Share of OpenBLAS's rate that sums of products are to reach.
GRAM_TARGET = 0.9
# What the paper's algorithms took for 500 000 points with 1000 features.
PAPER_HOURS = 5.3


def regression():
    print("## In memory: fit and value against the two matrix products\n")
    print(f"Doubles, {THREADS} threads. `syrk` and `trsm` are NumPy/SciPy with OpenBLAS (the better of two calls and of")
    print(f"three block sizes, warmed, best of three); both sides alternate {ROUNDS} times (the large ones twice) and the best counts. The peak is what a plain")
    print("loop of fused multiply-adds in registers reaches on as many threads; a share of it is np(p + 1) operations for `syrk`")
    print("and for `trsm`, divided by time and peak.\n")
    peak = measure("peak")["flops"]
    print(f"Peak: {peak / 1e9:.0f} GFLOP/s.\n")
    print("| rows × columns | syrk | dshap fit | trsm | dshap value | ratio of the sums | share of the peak: OpenBLAS | dshap |")
    print("|---|---|---|---|---|---|---|---|")
    for n, p, n_rounds in [(200_000, 100, ROUNDS), (200_000, 1_000, 2)]:
        rounds = [(products(n, p), measure("in-memory", n, p)) for _ in range(n_rounds)]
        syrk, trsm = (min(r[0][k] for r in rounds) for k in (0, 1))
        fit, value = (min(r[1][k] for r in rounds) for k in ("fit", "value"))
        ratio = (fit + value) / (syrk + trsm)
        share = lambda seconds: f"{100 * 2 * n * p * (p + 1) / seconds / peak:.0f} %"
        print(
            f"| {grouped(n)} × {grouped(p)} | {syrk:.3f} s | {fit:.3f} s | {trsm:.3f} s | {value:.3f} s | **{ratio:.2f}** "
            f"| {share(syrk + trsm)} | {share(fit + value)} |"
        )
    n, p = 500_000, 1_000
    alone = measure("in-memory", n, p)
    seconds = alone["fit"] + alone["value"]
    print(f"\n{grouped(n)} × {grouped(p)}, alone: fit {alone['fit']:.1f} s, value {alone['value']:.1f} s, together **{seconds:.1f} s**, where the paper")
    print(f"reports {PAPER_HOURS} hours on its machine ({grouped(round(3600 * PAPER_HOURS / seconds))} times as long).\n")


def gram():
    shapes = [(20_000, 100), (20_000, 400)] if SMALL else [(200_000, 100), (200_000, 400), (200_000, 1_000), (50_000, 2_000)]
    print("## Sums of products beside OpenBLAS\n")
    print(f"Moments alone: rows are copied, centred, multiplied in blocks and merged, {THREADS} threads. OpenBLAS adds `dsyrk` of blocks of as")
    print("many rows to one matrix. GFLOP/s count np(p + 1) operations. Both sides alternate and the best counts. The target is")
    print(f"{GRAM_TARGET:.0%} of OpenBLAS's rate at least.\n")
    print("| rows × columns | rows of a block | OpenBLAS | dshap | share |")
    print("|---|---|---|---|---|")
    for n, p in shapes:
        rounds = []
        for _ in range(ROUNDS):
            found = measure("gram", n, p)
            rounds.append((syrk_in_blocks(n, p, found["block_rows"]), found["seconds"]))
        theirs, ours = (min(r[k] for r in rounds) for k in (0, 1))
        rate = lambda seconds: f"{n * p * (p + 1) / seconds / 1e9:.1f} GFLOP/s"
        missed = "" if theirs / ours >= GRAM_TARGET else f" **missed**: at least {GRAM_TARGET:.0%}"
        print(f"| {grouped(n)} × {grouped(p)} | {grouped(found['block_rows'])} | {rate(theirs)} | {rate(ours)} | **{theirs / ours:.0%}**{missed} |", flush=True)
    print()


def classification():
    print("## Labels: the whole job against its passes\n")
    print(f"Doubles in memory, two labels, {THREADS} threads; fit and value of every row against the others. A pass is `XᵀWX` with the")
    print("weights given, by NumPy with OpenBLAS (the best of four block sizes, best of three); dshap's passes also form the linear")
    print("predictor, the probabilities and the gradient. `trsm` is the triangular solve with row norms that distances need.")
    print("Both sides alternate and the best counts.\n")
    print("| rows × columns | one pass by NumPy | trsm | passes | dshap fit | dshap value | (fit + value) / (passes × one pass + trsm) |")
    print("|---|---|---|---|---|---|---|")
    for n, p, n_rounds in [(500_000, 100, ROUNDS), (200_000, 1_000, 1)]:
        rounds = [(weighted_syrk(n, p), products(n, p)[1], measure("classification", n, p)) for _ in range(n_rounds)]
        syrk, trsm = (min(r[k] for r in rounds) for k in (0, 1))
        fit, value = (min(r[2][k] for r in rounds) for k in ("fit", "value"))
        passes = rounds[0][2]["passes"]
        ratio = (fit + value) / (passes * syrk + trsm)
        print(
            f"| {grouped(n)} × {grouped(p)} | {syrk:.3f} s | {trsm:.3f} s | {passes} | {fit:.3f} s | {value:.3f} s | **{ratio:.2f}** |"
        )
    print()


def growth():
    print("## How cost grows\n")
    print(f"Regression in memory, {THREADS} threads, best of three; the exponent is that of the step before. Time against m is below.\n")
    for title, cases in [
        ("rows, 100 columns", [(n, 100) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)]),
        ("columns, 100 000 rows", [(100_000, p) for p in (10, 30, 100, 300, 1_000)]),
    ]:
        print(f"| {title} | fit | value | exponent of the sum |\n|---|---|---|---|")
        before = None
        for n, p in cases:
            found = measure("in-memory", n, p)
            size, total = n * p, found["fit"] + found["value"]
            slope = "" if before is None else f"{math.log(total / before[1]) / math.log(size / before[0]):.2f}"
            print(f"| {grouped(n if title.startswith('rows') else p)} | {1e3 * found['fit']:.1f} ms | {1e3 * found['value']:.1f} ms | {slope} |")
            before = (size, total)
        print()
