"""From file to values: beside pyarrow's reader and the matrix products of the same rows."""

import hashlib
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from openblas import products
from polluted import polluted
from timing import DSHAP, ROUNDS, THREADS, best, grouped, run_with_peak


def files():
    both_ways()
    polluted()


def both_ways():
    n, p = 500_000, 20
    rng = np.random.default_rng(2)
    x = rng.standard_normal((n, p))
    columns = {f"x{j}": x[:, j] for j in range(p)} | {"y": x @ rng.standard_normal(p) + rng.standard_normal(n)}
    table = pa.table(columns)
    print("## From file to file\n")
    print(f"{grouped(n)} rows, {p} features and a target, {THREADS} threads; `dshap value` takes two passes, keeps the rows if they fit, and writes all")
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
    n, p, block = 5_000_000, 100, 100_000
    limit = "1GB"
    print("## Larger than memory\n")
    print(f"Parquet, {grouped(n)} rows, {p} features and a target, doubles, `--memory {limit}`, {THREADS} threads, best of {ROUNDS},")
    print("alternating; the file is in the page cache. Must cost: pyarrow hands over the same batches (`iter_batches`,")
    print("threads on), once for `fit` and `value --valuer`, twice for `value`, plus OpenBLAS `syrk` and `trsm` of that many rows.")
    print("`value` also writes all values as Parquet. `fit` also takes the SHA-256 of the file, which is kept with the valuer.\n")
    with tempfile.TemporaryDirectory() as folder:
        path, valuer = Path(folder) / "rows.parquet", Path(folder) / "sample.dshap"
        last = write_normal_rows(path, n, p, block)
        sample = Path(folder) / "sample.parquet"
        pq.write_table(last, sample)
        subprocess.run([DSHAP, "fit", sample, "--target", "y", "-o", valuer, "--quiet"], check=True)

        def read():
            for batch in pq.ParquetFile(path).iter_batches(batch_size=40_000, use_threads=True):
                batch.num_rows

        def hash_file():
            with open(path, "rb") as file:
                hashlib.file_digest(file, "sha256")

        shared = ["--memory", limit, "--threads", str(THREADS), "--quiet"]
        out = ["-o", Path(folder) / "values.parquet"]
        jobs = {
            "fit": ([DSHAP, "fit", path, "--target", "y", "-o", Path(folder) / "rows.dshap", *shared], 1, (1, 0)),
            "value --valuer": ([DSHAP, "value", path, "--valuer", valuer, *out, *shared], 1, (0, 1)),
            "value": ([DSHAP, "value", path, "--target", "y", *out, *shared], 2, (1, 1)),
        }
        # A part of the rows is enough to know what products of all of them take.
        n_sample = n // 25
        syrk, trsm = (n / n_sample * seconds for seconds in products(n_sample, p))
        reading, runs = [], {name: [] for name in jobs}
        for _ in range(ROUNDS):
            # Its memory is fresh in the first round, and slow for that.
            reading.append(best(read, 3))
            for name, (command, _, _) in jobs.items():
                runs[name].append(run_with_peak(command))
        hashing = best(hash_file, 1)
        size = path.stat().st_size / 1e6
        print(f"The file has {size:.0f} MB; pyarrow reads it in {min(reading):.2f} s; syrk takes {syrk:.2f} s, trsm {trsm:.2f} s,")
        print(f"and the SHA-256 by Python's hashlib {hashing:.2f} s on one thread, which the last column shares among {THREADS}.\n")
        print("| command | peak resident | dshap | must cost | share of the necessary speed | MB/s of the file | with the SHA-256 |")
        print("|---|---|---|---|---|---|---|")
        for name, (_, passes, (n_syrk, n_trsm)) in jobs.items():
            seconds, peak = min(r[0] for r in runs[name]), max(r[1] for r in runs[name])
            must = passes * min(reading) + n_syrk * syrk + n_trsm * trsm
            with_hash = f"{100 * (must + hashing / THREADS) / seconds:.0f} %" if name == "fit" else ""
            print(
                f"| `{name}` | {peak:.0f} MB | {seconds:.2f} s | {must:.2f} s | **{100 * must / seconds:.0f} %** "
                f"| {size / seconds:.0f} | {with_hash} |"
            )
    print()


def write_normal_rows(path, n, p, block):
    """Rows of a linear model in groups of `block`; returns the last of them."""
    rng = np.random.default_rng(3)
    beta, writer = rng.standard_normal(p), None
    for _ in range(0, n, block):
        x = rng.standard_normal((block, p))
        table = pa.table({f"x{j}": x[:, j] for j in range(p)} | {"y": x @ beta + rng.standard_normal(block)})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="snappy")
        writer.write_table(table)
    writer.close()
    return table


def csv():
    n, p = 2_000_000, 20
    print("## CSV at several threads, and from a pipe\n")
    print(f"{grouped(n)} rows, {p} features and a target; `dshap fit` reads the file once and takes its SHA-256, `value --valuer` reads")
    print("it once and writes all values as Parquet; pyarrow reads the same columns. A pipe is `cat rows.csv |`. MB of the file per")
    print(f"second, best of {ROUNDS}, alternating.\n")
    rng = np.random.default_rng(4)
    x = rng.standard_normal((n, p))
    table = pa.table({f"x{j}": x[:, j] for j in range(p)} | {"y": x @ rng.standard_normal(p) + rng.standard_normal(n)})
    with tempfile.TemporaryDirectory() as folder:
        path, sample, valuer = (Path(folder) / name for name in ("rows.csv", "sample.csv", "sample.dshap"))
        pa.csv.write_csv(table, path)
        pa.csv.write_csv(table.slice(0, 10_000), sample)
        subprocess.run([DSHAP, "fit", sample, "--target", "y", "--quiet", "-o", valuer], check=True)
        size = path.stat().st_size / 1e6
        fit = lambda rows: ["fit", rows, "--target", "y", "-o", Path(folder) / "v.dshap"]
        value = lambda rows: ["value", rows, "--valuer", valuer, "-o", Path(folder) / "values.parquet"]
        print(f"The file has {size:.0f} MB.\n")
        print("| threads | fit | fit, from a pipe | value --valuer | value --valuer, from a pipe | pyarrow.csv | peak resident of dshap |")
        print("|---|---|---|---|---|---|---|")
        for threads in range(1, THREADS + 1):
            pa.set_cpu_count(threads)
            commands = [
                ([DSHAP, *job(source), "--quiet", "--threads", str(threads)], stdin)
                for job in (fit, value)
                for source, stdin in ((path, None), ("-", path))
            ]
            rounds = [
                ([run_with_peak(command, stdin) for command, stdin in commands], best(lambda: pa.csv.read_csv(path), 1))
                for _ in range(ROUNDS)
            ]
            speeds = [size / min(r[0][job][0] for r in rounds) for job in range(len(commands))]
            peak = max(run[1] for r in rounds for run in r[0])
            cells = " | ".join(f"{speed:.0f}" for speed in speeds)
            print(f"| {threads} | {cells} | {size / min(r[1] for r in rounds):.0f} | {peak:.0f} MB |")
        pa.set_cpu_count(THREADS)
    print()
