"""What closed forms beyond the paper cost beside `gaussian`: test rows, semivalues, a refitted intercept."""

import os
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from timing import DSHAP, ROUNDS, THREADS, grouped

SIZES = (20_000, 100) if os.environ.get("DSHAP_BENCH_SMALL") else (500_000, 100)

#: Options beside those of every run, and the most they may cost; none if nothing was promised.
FORMS = {
    "`gaussian`": ([], None),
    "`--test`": (["--test", "test.parquet"], 1.6),
    "`--semivalue banzhaf`": (["--semivalue", "banzhaf"], 1.05),
    "`--semivalue beta:1,16`": (["--semivalue", "beta:1,16"], 1.05),
    "`--refit-intercept`": (["--refit-intercept"], None),
    "`--test --stderr`": (["--test", "test.parquet", "--stderr"], None),
}


def run():
    n, p = SIZES
    print("## Closed forms beyond the paper\n")
    print(f"Parquet, {grouped(n)} rows, {p} features and a target, {THREADS} threads, each row valued against the others: processor")
    print(f"seconds of `dshap value`, best of {ROUNDS}, alternating. Test rows are 1 000 others.\n")
    rng = np.random.default_rng(8)
    with tempfile.TemporaryDirectory() as folder:
        for name, count in (("rows", n), ("test", 1_000)):
            x = rng.standard_normal((count, p))
            columns = {f"x{j}": x[:, j] for j in range(p)} | {"y": x.sum(axis=1) + rng.standard_normal(count)}
            pq.write_table(pa.table(columns), Path(folder) / f"{name}.parquet")
            del x, columns
        seconds = {name: [] for name in FORMS}
        for _ in range(ROUNDS):
            for name, (options, _) in FORMS.items():
                seconds[name].append(_processor_seconds(folder, options))
    plain = min(seconds["`gaussian`"])
    print("| form | seconds | times `gaussian` | at most |")
    print("|---|---|---|---|")
    for name, (_, most) in FORMS.items():
        print(f"| {name} | {min(seconds[name]):.2f} | {min(seconds[name]) / plain:.2f} | {most or ''} |")
    print()


def _processor_seconds(folder, options):
    """Other work on the machine does not count."""
    command = [DSHAP, "value", "rows.parquet", "--target", "y", "--quiet", "--threads", str(THREADS), "-o", "values.parquet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, *options], check=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
