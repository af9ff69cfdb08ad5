"""How well values by nearest neighbours find wrong labels and wrong targets of real tables. Prints Markdown.

Run by `./bench neighbours-noise`; the tables are looked for where `label_noise.py` looks for them.
"""

import io
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from label_noise import MOST_ROWS, REPETITIONS, TABLES, auc, improbability
from timing import DATA, DSHAP

SHARE = 0.15

# file, target
NUMBERS = {
    "abalone": ("abalone.csv", "target"),
    "airfoil": ("airfoil.csv", "target"),
    "diabetes": ("diabetes_efron.csv", "target"),
    "whitewine": ("whitewine.csv", "target"),
}

# What rows are sorted by: the method's flags, the column, and whether large is suspicious.
BY_NEIGHBOURS = {
    "`knn` value": (["knn"], "value", False),
    "`knn` value, k = 1": (["knn", "--k", "1"], "value", False),
    "`knn` value, k = 20": (["knn", "--k", "20"], "value", False),
    "`knn` value, m = 100": (["knn", "--m", "100"], "value", False),
    "`knn-shapley` value": (["knn-shapley"], "value", False),
}
OF_LABELS = BY_NEIGHBOURS | {
    "`gaussian` value": (["gaussian", "--ridge", "1", "--per-class"], "value", False),
    "`gaussian` penalty": (["gaussian", "--ridge", "1", "--per-class"], "penalty", True),
}
OF_NUMBERS = BY_NEIGHBOURS | {
    "`gaussian` value": (["gaussian"], "value", False),
    "`gaussian` penalty": (["gaussian"], "penalty", True),
    "absolute residual, left out": (["gaussian"], "resid_sq", True),
}
IMPROBABLE, RANDOM = "own label's improbability", "random"


def load(file, target, exclude=()):
    path = DATA / file
    if not path.exists():
        return None
    table = pa.csv.read_csv(path) if path.suffix == ".csv" else pq.read_table(path)
    names = [name for name in table.column_names if name != target and name not in exclude]
    x = np.column_stack([table[name].to_numpy().astype(float) for name in names])
    return x, table[target].to_numpy()


def corrupted(y, wrong, rng, labels):
    """Another label, any of the others alike; or the target of another row, drawn at random."""
    y = y.copy()
    if labels:
        classes = np.unique(y)
        step = rng.integers(1, len(classes), len(y))
        y[wrong] = classes[(np.searchsorted(classes, y) + step)[wrong] % len(classes)]
    else:
        y[wrong] = rng.choice(y, wrong.sum())
    return y


def value(path, flags, labels):
    task = "classification" if labels else "regression"
    command = [DSHAP, "value", path, "--target", "y", "--task", task, "--quiet", "--method", *flags]
    done = subprocess.run(command, capture_output=True, check=True)
    return pa.csv.read_csv(io.BytesIO(done.stdout))


def one_draw(x, y, scores, labels, seed, folder):
    """Detection by every score with one draw of rows and errors."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))[:MOST_ROWS]
    x, y = x[rows], y[rows].astype(int if labels else float)
    x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    wrong = np.zeros(len(y), bool)
    wrong[rng.permutation(len(y))[: round(SHARE * len(y))]] = True
    y = corrupted(y, wrong, rng, labels)
    path = Path(folder) / "rows.csv"
    pa.csv.write_csv(pa.table({f"x{j}": x[:, j] for j in range(x.shape[1])} | {"y": y}), path)
    found, outputs = {}, {}
    for name, (flags, column, large) in scores.items():
        key = tuple(flags)
        if key not in outputs:
            outputs[key] = value(path, flags, labels)
        cells = outputs[key][column].to_numpy(zero_copy_only=False).astype(float)
        found[name] = auc(np.nan_to_num(cells if large else -cells), wrong)
    if labels:
        gaussian = next(table for flags, table in outputs.items() if flags[0] == "gaussian")
        found[IMPROBABLE] = auc(improbability(gaussian, y), wrong)
    found[RANDOM] = auc(rng.random(len(y)), wrong)
    return found


def table_of(tables, scores, labels):
    columns = [*scores, *([IMPROBABLE] if labels else []), RANDOM]
    names, cells, worst = [], {column: [] for column in columns}, 0.0
    for name, place in tables.items():
        loaded = load(*place)
        if loaded is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            draws = [one_draw(*loaded, scores, labels, seed, folder) for seed in range(REPETITIONS)]
        names.append(name)
        for column in columns:
            found = np.array([draw[column] for draw in draws])
            error = found.std(ddof=1) / np.sqrt(REPETITIONS)
            worst = max(worst, error)
            cells[column].append(f"{found.mean():.3f} ± {error:.3f}")
    print("| sorted by | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for column in columns:
        print(f"| {column} | " + " | ".join(cells[column]) + " |")
    print(f"\nLargest standard error: {worst:.3f}.\n", flush=True)


def run():
    print("## Wrong labels and targets by nearest neighbours\n")
    print(f"{100 * SHARE:.0f} % of the rows get another label, or the target of another row; columns standardised, at most {MOST_ROWS} rows of each")
    print(f"table, rows against each other, the wrong ones among the test rows. ROC AUC, mean and standard error over {REPETITIONS} draws.\n")
    print("### Labels\n")
    table_of(TABLES, OF_LABELS, labels=True)
    print("### Numbers\n")
    table_of(NUMBERS, OF_NUMBERS, labels=False)
