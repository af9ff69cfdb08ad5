"""The first command on an ordinary table gives values: exit code 0 and at most three warnings. Prints Markdown.

Run by `./bench first-answer`. The default command runs over every table of the data folder and scikit-learn's bundled
sets, with nothing but `--target`, and so does `dshap look`. Ends with an error if a table fails. The column `rank` has
Spearman's correlation of the default values with those of `calibrated`, and `seconds more` what `calibrated` takes
longer.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import sklearn.datasets
from scipy.stats import spearmanr

from timing import DATA, DSHAP

#: Another build can be checked, too.
PROGRAM = os.environ.get("DSHAP_PROGRAM", DSHAP)
MOST_WARNINGS = 3
BUNDLED = ["breast_cancer", "diabetes", "digits", "iris", "linnerud", "wine"]


def bundled(folder: Path) -> list[tuple[str, Path]]:
    """scikit-learn's sets as CSV files with a column `target`, of words where it is a label."""
    tables = []
    for name in BUNDLED:
        data = getattr(sklearn.datasets, f"load_{name}")()
        target = data.target if data.target.ndim == 1 else data.target[:, 0]
        words = getattr(data, "target_names", None)
        is_label = name not in ("diabetes", "linnerud")
        path = folder / f"{name}.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*(f"x{j}" for j in range(data.data.shape[1])), "target"])
            for row, y in zip(data.data, target, strict=True):
                writer.writerow([*row, words[int(y)] if is_label else y])
        tables.append((f"scikit-learn {name}", path))
    return tables


def values(path: Path, *options: str) -> tuple[subprocess.CompletedProcess[str], np.ndarray, float]:
    start = time.perf_counter()
    ran = subprocess.run([PROGRAM, "value", path, "--target", "target", *options], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    found = [row["value"] for row in csv.DictReader(ran.stdout.splitlines())]
    return ran, np.array([float(value) if value else np.nan for value in found]), seconds


def run() -> None:
    files = sorted(path for path in Path(DATA).iterdir() if path.suffix in (".csv", ".parquet"))
    failed = []
    print("| table | rows | values | warnings | problems by `look` | rank | seconds | seconds more |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in [(path.stem, path) for path in files] + bundled(Path(folder)):
            first, found, seconds = values(path)
            n_warnings = sum(line.startswith("warning:") for line in first.stderr.splitlines())
            look = subprocess.run([PROGRAM, "look", path, "--target", "target"], capture_output=True, text=True)
            problems = "none" if "No problem was found." in look.stdout else "some"
            other, calibrated, longer = values(path, "--method", "calibrated")
            both = np.isfinite(found) & np.isfinite(calibrated) if other.returncode == 0 == first.returncode else None
            rank = "–" if both is None else f"{spearmanr(found[both], calibrated[both]).statistic:.3f}"
            n_values = int(np.isfinite(found).sum())
            print(
                f"| {name} | {len(found)} | {n_values} | {n_warnings} | {problems} | {rank} | {seconds:.2f} | "
                f"{longer - seconds:.2f} |",
                flush=True,
            )
            if first.returncode != 0 or look.returncode != 0 or n_values == 0 or n_warnings > MOST_WARNINGS:
                failed.append(f"{name}: {first.stderr.strip()}")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    run()
