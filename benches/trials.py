"""How long `evaluate`, `compare` and `clean` take on a table of ordinary size, with their default methods."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from timing import DSHAP, THREADS, grouped

SMALL = bool(os.environ.get("DSHAP_BENCH_SMALL"))
LIMIT = 60


def write(path, n, p, labels):
    """Rows of a linear or a logistic model, of which a twentieth have a wrong target."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((n, p))
    score = x @ rng.standard_normal(p) / np.sqrt(p)
    wrong = rng.random(n) < 0.05
    if labels:
        y = rng.random(n) < 1 / (1 + np.exp(-3 * score))
        y = np.where(y ^ wrong, "yes", "no")
    else:
        y = score + 0.5 * rng.standard_normal(n) + np.where(wrong, 4.0, 0.0)
    pq.write_table(pa.table({f"x{j}": x[:, j] for j in range(p)} | {"y": y}), path)


def seconds_of(*words):
    start = time.perf_counter()
    subprocess.run([DSHAP, *map(str, words), "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def run():
    n, p = (5_000, 20) if SMALL else (50_000, 60)
    print("## Evaluating, comparing and cleaning\n")
    print(f"{grouped(n)} × {p} rows in Parquet, default methods and options, {THREADS} threads, each command once. The target is a")
    print("minute.\n")
    print("| command | numbers | labels |")
    print("|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        paths = {labels: Path(folder) / f"rows-{labels}.parquet" for labels in (False, True)}
        for labels, path in paths.items():
            write(path, n, p, labels)
        for command in ("evaluate", "compare", "clean"):
            cells = []
            for path in paths.values():
                out = Path(folder) / f"{command}.csv"
                out.unlink(missing_ok=True)
                took = seconds_of(command, path, "--target", "y", "-o", out)
                cells.append(f"{took:.1f} s" + ("" if took <= LIMIT else f" **missed**: at most {LIMIT} s"))
            print(f"| `{command}` | " + " | ".join(cells) + " |", flush=True)
    print()
