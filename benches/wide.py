"""From wide files to values: beside reading the same file with pyarrow and the matrix products of the same rows."""

import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

from openblas import products, weighted_syrk
from timing import DSHAP, ROUNDS, THREADS, best, best_with_processor, example, grouped, judged

SMALL = bool(os.environ.get("DSHAP_BENCH_SMALL"))
TARGET = 1.25
TARGET_OF_LABELS = 1.3


def tables(n, p, labels=False):
    """Rows of a linear model, a row group at a time."""
    rng = np.random.default_rng(3)
    beta = rng.standard_normal(p)
    block = max(10_000, 20_000_000 // p)
    for start in range(0, n, block):
        x = rng.standard_normal((min(block, n - start), p))
        score = x @ beta
        if labels:
            chance = 1 / (1 + np.exp(-2 * score / np.sqrt(p)))
            y = (rng.random(len(x)) < chance).astype(float)
        else:
            y = score + rng.standard_normal(len(x))
        yield pa.table({f"x{j}": x[:, j] for j in range(p)} | {"y": y})


def write(path, n, p, labels=False):
    writer = None
    for table in tables(n, p, labels):
        if writer is None:
            is_arrow = path.suffix == ".arrow"
            writer = pa.ipc.new_file(str(path), table.schema) if is_arrow else pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def read(path):
    if path.suffix == ".arrow":
        with pa.ipc.open_file(str(path)) as file:
            table = file.read_all()
    else:
        table = pq.read_table(path)
    # Pages of a mapped file are read when they are touched.
    return [column.to_numpy()[-1] for column in table.columns]


def command(*words):
    return lambda: subprocess.run([DSHAP, *map(str, words), "--quiet", "--threads", str(THREADS)], check=True)


def regression():
    shapes = [(20_000, 100), (5_000, 400)] if SMALL else [(200_000, 100), (50_000, 1_000), (200_000, 1_000), (50_000, 2_000)]
    print("## Wide files\n")
    print(f"A regression from a file, {THREADS} threads, best of {ROUNDS}, alternating. The file is read by pyarrow, and the products are")
    print("`syrk` (for `fit`) and `syrk` and `trsm` (for `value`, which values every row against the others) by OpenBLAS. `fit` also")
    print(f"computes the SHA-256 of the file. The target is {TARGET} at most. *Busy* is the user time of the best run divided by its")
    print("seconds and threads.\n")
    print("| file | rows × columns | read | syrk | trsm | fit | fit / (read + syrk) | value | value / (read + syrk + trsm) | busy: fit | value |")
    print("|---" * 11 + "|")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "values.parquet", Path(folder) / "v.dshap"
        for n, p in shapes:
            syrk, trsm = products(n, p)
            for kind in ("parquet", "arrow"):
                path = Path(folder) / f"rows.{kind}"
                write(path, n, p)
                value = command("value", path, "--target", "y", "-o", out[0])
                fit = command("fit", path, "--target", "y", "-o", out[1])
                rounds = [(best(lambda: read(path), 1), best_with_processor(fit), best_with_processor(value)) for _ in range(ROUNDS)]
                reading, (fitting, fit_busy), (valuing, value_busy) = (min(r[k] for r in rounds) for k in range(3))
                path.unlink()
                print(
                    f"| {kind} | {grouped(n)} × {grouped(p)} | {reading:.2f} s | {syrk:.2f} s | {trsm:.2f} s "
                    f"| {fitting:.2f} s | {judged(fitting / (reading + syrk), TARGET)} "
                    f"| {valuing:.2f} s | {judged(valuing / (reading + syrk + trsm), TARGET)} | {fit_busy:.0%} | {value_busy:.0%} |",
                    flush=True,
                )
    print()


def text():
    n, p = (20_000, 20) if SMALL else (500_000, 20)
    print("## CSV beside its parse\n")
    print("The parse alone is that of dshap (`crates/io/examples/read_speed.rs`), once for `fit`. `value` keeps what it has read,")
    print(f"so it parses once, too. The target is {TARGET} at most.\n")
    print("| rows × columns | parse | syrk | trsm | fit | fit / (parse + syrk) | value | value / (parse + syrk + trsm) | busy: fit | value |")
    print("|---" * 10 + "|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        with pa.csv.CSVWriter(str(path), next(tables(10, p)).schema) as writer:
            for table in tables(n, p):
                writer.write_table(table)
        syrk, trsm = products(n, p)
        value = command("value", path, "--target", "y", "-o", Path(folder) / "values.parquet")
        fit = command("fit", path, "--target", "y", "-o", Path(folder) / "v.dshap")
        rounds = [(example("read_speed", path)["seconds"], best_with_processor(fit), best_with_processor(value)) for _ in range(ROUNDS)]
        parsing, (fitting, fit_busy), (valuing, value_busy) = (min(r[k] for r in rounds) for k in range(3))
    print(
        f"| {grouped(n)} × {p} | {parsing:.2f} s | {syrk:.3f} s | {trsm:.3f} s | {fitting:.2f} s "
        f"| {judged(fitting / (parsing + syrk), TARGET)} | {valuing:.2f} s | {judged(valuing / (parsing + syrk + trsm), TARGET)} | {fit_busy:.0%} | {value_busy:.0%} |\n"
    )


def labels():
    shapes = [(20_000, 50)] if SMALL else [(500_000, 100), (50_000, 1_000)]
    print("## Labels from files\n")
    print("Two labels, Parquet. A pass is one weighted `XᵀWX` by NumPy with OpenBLAS. Rows that fit into memory are decoded once for")
    print(f"all passes. `value` adds one triangular solve. The target is {TARGET_OF_LABELS} at most.\n")
    print("| rows × columns | read | passes | one pass | trsm | fit | fit / (passes + read) | value | value / (passes + read + trsm) | busy: fit | value |")
    print("|---" * 11 + "|")
    with tempfile.TemporaryDirectory() as folder:
        path, valuer = Path(folder) / "rows.parquet", Path(folder) / "v.dshap"
        for n, p in shapes:
            write(path, n, p, labels=True)
            one, trsm = weighted_syrk(n, p), products(n, p)[1]
            value = command("value", path, "--target", "y", "-o", Path(folder) / "values.parquet", "--summary", Path(folder) / "s.json")
            fit = command("fit", path, "--target", "y", "-o", valuer)
            rounds = [(best(lambda: read(path), 1), best_with_processor(fit), best_with_processor(value)) for _ in range(ROUNDS)]
            reading, (fitting, fit_busy), (valuing, value_busy) = (min(r[k] for r in rounds) for k in range(3))
            passes = passes_of(Path(folder) / "s.json")
            must = passes * one + reading
            print(
                f"| {grouped(n)} × {grouped(p)} | {reading:.2f} s | {passes} | {one:.3f} s | {trsm:.2f} s "
                f"| {fitting:.2f} s | {judged(fitting / must, TARGET_OF_LABELS)} "
                f"| {valuing:.2f} s | {judged(valuing / (must + trsm), TARGET_OF_LABELS)} | {fit_busy:.0%} | {value_busy:.0%} |",
                flush=True,
            )
    print()


def passes_of(summary):
    """How many passes of a logistic fit sum weighted products: all but the one that looks for labels."""
    import json

    found = json.loads(summary.read_text())
    return found["reference_passes"] - found["extra_passes"].count("labels")


def run():
    regression()
    text()
    labels()
