"""How well values find flipped labels: labels of real tables are flipped at random, and rows are sorted by what
`dshap value` says of them. Prints Markdown.

Run by `./bench label-noise`. The tables are looked for in the folder that DSHAP_DATA names, or in ../shared/data beside
the repository; a table that is not there is passed over.
"""

import io
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from timing import DATA, DSHAP

REPETITIONS = 10
MOST_ROWS = 2_000
SHARES = [0.1, 0.2]

# file, target, columns that are no features
TABLES = {
    "australian": ("australian.csv", "target", []),
    "breast_cancer": ("breast_cancer.csv", "target", []),
    "pima": ("pima_diabetes.csv", "target", []),
    "skin": ("skin_nonskin.parquet", "target", []),
    "mnist, label < 5": ("mnist_effnetlite0_pca32.parquet", "target", ["label", "split", "index"]),
    "cifar10, label < 5": ("cifar10_effnetlite0_pca32.parquet", "target", ["label", "split", "index"]),
    "digits, ten classes": ("digits.csv", "target", []),
}

# What rows are sorted by: the method's flags, the column, and whether large is suspicious.
SCORES = {
    "`gaussian` value": (["gaussian"], "value", False),
    "`gaussian` penalty": (["gaussian"], "penalty", True),
    "`calibrated` value": (["calibrated"], "value", False),
    "`calibrated` penalty": (["calibrated"], "penalty", True),
    "`general` value": (["general", "--samples", "64", "--stop", "0"], "value", False),
    "`lower` value": (["lower"], "value", False),
    "`upper` value": (["upper"], "value", False),
    "`lower` of the authors' program": (["lower", "--convention", "authors"], "value", False),
    "`upper` of the authors' program": (["upper", "--convention", "authors"], "value", False),
}
BESIDE = ["own label's improbability", "random"]


def load(file, target, exclude):
    path = DATA / file
    if not path.exists():
        return None
    table = pa.csv.read_csv(path) if path.suffix == ".csv" else pq.read_table(path)
    names = [name for name in table.column_names if name != target and name not in exclude]
    x = np.column_stack([table[name].to_numpy().astype(float) for name in names])
    return x, table[target].to_numpy().astype(int)


def auc(suspicion, flipped):
    """Chance that a flipped row is more suspicious than one that is not; ties count half."""
    order = np.argsort(suspicion, kind="stable")
    ranks = np.empty(len(order))
    _, inverse, counts = np.unique(suspicion[order], return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks[order] = ((ends - counts + 1 + ends) / 2)[inverse]
    n = flipped.sum()
    return (ranks[flipped].sum() - n * (n + 1) / 2) / (n * (len(flipped) - n))


def f1(suspicion, flipped, rng):
    """F1 when as many rows are suspected as were flipped; there precision and recall are the same."""
    order = np.lexsort((rng.random(len(suspicion)), -suspicion))
    return flipped[order[: flipped.sum()]].mean()


def value(path, flags):
    command = [DSHAP, "value", path, "--target", "y", "--task", "classification", "--ridge", "1", "--per-class", "--quiet"]
    done = subprocess.run([*command, "--method", *flags], capture_output=True)
    if done.returncode == 1 and b"hardly ever determine the coefficients" in done.stderr:
        return None
    done.check_returncode()
    return pa.csv.read_csv(io.BytesIO(done.stdout))


def improbability(table, y):
    """One minus the probability of the label that a row has, under the fit of all rows."""
    if "prob" in table.column_names:
        prob = table["prob"].to_numpy()
        return np.where(y == 1, 1 - prob, prob)
    return 1 - np.array([table[f"prob_{label}"][row].as_py() for row, label in enumerate(y)])


def one_draw(x, labels, share, seed, folder):
    """Detection by every score with one draw of rows and flips."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(labels))[:MOST_ROWS]
    x, y = x[rows], labels[rows].copy()
    x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    classes = np.unique(labels)
    flipped = np.zeros(len(y), bool)
    flipped[rng.permutation(len(y))[: round(share * len(y))]] = True
    step = rng.integers(1, len(classes), len(y))
    y[flipped] = classes[(np.searchsorted(classes, y) + step)[flipped] % len(classes)]
    path = Path(folder) / "rows.csv"
    pa.csv.write_csv(pa.table({f"x{j}": x[:, j] for j in range(x.shape[1])} | {"y": y}), path)
    found, outputs = {}, {}
    for name, (flags, column, large) in SCORES.items():
        key = tuple(flags)
        if key not in outputs:
            outputs[key] = value(path, flags)
        table = outputs[key]
        if table is None:
            found[name] = None
            continue
        cells = table[column].to_numpy(zero_copy_only=False).astype(float)
        suspicion = np.nan_to_num(cells if large else -cells, nan=0.0, posinf=1e300, neginf=-1e300)
        found[name] = (auc(suspicion, flipped), f1(suspicion, flipped, rng))
    suspicion = improbability(outputs[("gaussian",)], y)
    found[BESIDE[0]] = (auc(suspicion, flipped), f1(suspicion, flipped, rng))
    suspicion = rng.random(len(y))
    found[BESIDE[1]] = (auc(suspicion, flipped), f1(suspicion, flipped, rng))
    return found


def run():
    print("## Flipped labels\n")
    print(f"Labels flipped at random (to any other label), columns standardised, `--ridge 1`, at most {MOST_ROWS} rows drawn from each")
    print(f"table, {REPETITIONS} draws; rows against each other. ROC AUC, and in brackets F1 when as many rows are suspected as were")
    print("flipped; means over the draws, the largest standard error of an AUC in its table is given. A dash: small sets of these")
    print("rows do not determine the coefficients (columns that are nearly always 0), so that there are no sets to draw.\n")
    columns = [*SCORES, *BESIDE]
    for share in SHARES:
        print(f"### {100 * share:.0f} % of the labels\n")
        lines, worst = [], 0.0
        for name, place in TABLES.items():
            loaded = load(*place)
            if loaded is None:
                continue
            with tempfile.TemporaryDirectory() as folder:
                draws = [one_draw(*loaded, share, seed, folder) for seed in range(REPETITIONS)]
            cells = []
            for column in columns:
                found = np.array([draw[column] for draw in draws if draw[column] is not None])
                if len(found) < REPETITIONS:
                    cells.append("–")
                    continue
                worst = max(worst, found[:, 0].std(ddof=1) / np.sqrt(REPETITIONS))
                cells.append(f"{found[:, 0].mean():.2f} ({found[:, 1].mean():.2f})")
            lines.append((name, cells))
        print("| sorted by | " + " | ".join(name for name, _ in lines) + " |")
        print("|---" * (len(lines) + 1) + "|")
        for k, column in enumerate(columns):
            print(f"| {column} | " + " | ".join(cells[k] for _, cells in lines) + " |")
        print(f"\nLargest standard error: {worst:.3f}.\n", flush=True)
