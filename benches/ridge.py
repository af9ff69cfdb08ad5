"""How large the automatic ridge of labels should be: held-out log-loss and detection of flipped labels. Prints
Markdown.

Run by `./bench ridge`. The tables are those of label_noise.py, regressions split at the median of their target, and two
of scikit-learn; at most 1 500 rows of each. Columns are divided by their deviations, so that `--ridge G` is what
`--ridge auto` would be with that number.
"""

import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier

from timing import DATA, DSHAP

TABLES = [
    "abalone",
    "airfoil",
    "australian",
    "breast_cancer",
    "cifar10_effnetlite0_pca32",
    "diabetes_efron",
    "digits",
    "fashion_mnist_effnetlite0_pca32",
    "mnist_effnetlite0_pca32",
    "pima_diabetes",
    "skin_nonskin",
    "whitewine",
]
RIDGES = [0.0, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]
MOST_ROWS = 1_500
FLIPPED = 0.1
SEEDS = range(3)


def tables():
    """Name, features and labels 0, 1, … of each table."""
    for name in TABLES:
        path = next(DATA.glob(f"{name}.*"), None)
        if path is None:
            continue
        table = pyarrow.csv.read_csv(path) if path.suffix == ".csv" else pyarrow.parquet.read_table(path)
        target = "label" if "label" in table.column_names else "target"
        names = [name for name in table.column_names if name not in {"label", "target", "split", "index"}]
        x = np.column_stack([table[name].to_numpy() for name in names]).astype(float)
        y = table[target].to_numpy()
        if len(np.unique(y)) > 10:
            y = y > np.median(y)
        yield name, x, np.unique(y, return_inverse=True)[1]
    for name, load in [("iris", load_iris), ("wine", load_wine)]:
        yield name, *load(return_X_y=True)


def held_out_loss(x, y, ridge):
    """Mean log-loss of five folds, of one model per label against the others."""
    model = OneVsRestClassifier(LogisticRegression(C=1 / max(ridge, 1e-9), max_iter=2_000))
    losses = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(x, y):
        probabilities = model.fit(x[train], y[train]).predict_proba(x[test])
        losses.append(log_loss(y[test], probabilities, labels=np.unique(y)))
    return np.mean(losses)


def detection(x, y, ridge, seed, folder):
    """Area under the curve of `penalty` as a sign of a flipped label; nothing if there is no fit."""
    random = np.random.default_rng(seed)
    flipped = random.random(len(y)) < FLIPPED
    n_labels = y.max() + 1
    given = np.where(flipped, (y + random.integers(1, n_labels, len(y))) % n_labels, y)
    path = folder / "flipped.csv"
    header = ",".join([f"x{j}" for j in range(x.shape[1])] + ["label"])
    lines = [",".join(map(repr, map(float, row))) + f",c{label}" for row, label in zip(x, given)]
    path.write_text("\n".join([header, *lines]) + "\n")
    command = [DSHAP, "value", path, "--target", "label", "--task", "classification", "--ridge", str(ridge), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return np.nan
    header, *lines = done.stdout.splitlines()
    column = header.split(",").index("penalty")
    penalty = [float(line.split(",")[column] or "nan") for line in lines]
    return roc_auc_score(flipped, np.nan_to_num(penalty, nan=np.nanmax(penalty)))


def run():
    warnings.filterwarnings("ignore")
    print("| table | rows × columns, labels | measure | " + " | ".join(f"γ = {ridge:g}" for ridge in RIDGES) + " |")
    print("|---" * (3 + len(RIDGES)) + "|")
    with tempfile.TemporaryDirectory() as scratch:
        for name, x, y in tables():
            chosen = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
            x, y = x[chosen], np.unique(y[chosen], return_inverse=True)[1]
            spread = x.std(0)
            x = (x[:, spread > 0] - x[:, spread > 0].mean(0)) / spread[spread > 0]
            what = f"{x.shape[0]} × {x.shape[1]}, {y.max() + 1}"
            losses = [held_out_loss(x, y, ridge) for ridge in RIDGES]
            print(f"| {name} | {what} | log-loss | " + " | ".join(f"{loss:.4f}" for loss in losses) + " |", flush=True)
            found = [
                np.mean([detection(x, y, ridge, seed, Path(scratch)) for seed in SEEDS]) for ridge in RIDGES
            ]
            cells = ["no fit" if np.isnan(area) else f"{area:.4f}" for area in found]
            print("| | | detection | " + " | ".join(cells) + " |", flush=True)

