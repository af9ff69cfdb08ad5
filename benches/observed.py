"""Values of regression beside models that are really refitted, on real tables. Prints Markdown.

Run by `./bench observed`. Each table is divided at random into a reference, 60 points, and up to 1 000 held-out rows.
The value of a point by refits: sets of reference rows are drawn, a model with an intercept is fitted to each with and
without the point, and the squared error on the rows of a judge tells what the point brings. The judge is the reference,
as for the methods, or the held-out rows. Sizes are drawn from each of 24 ranges in turn, so that all sizes count alike.
The methods know only the reference and average over the same sizes. Tables of labels serve with one of their numbers
as the target.
"""

import csv
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
from scipy.stats import spearmanr

from timing import DATA, DSHAP

#: Another build can be checked, too.
PROGRAM = os.environ.get("DSHAP_PROGRAM", DSHAP)
#: Table, target, and columns to leave out: a label, or a column that others determine.
TABLES = [
    ("airfoil", "target", []),
    ("whitewine", "target", []),
    ("abalone", "target", ["sex_M"]),
    ("diabetes_efron", "target", []),
    ("pima_diabetes", "glucose", ["target"]),
    ("skin_nonskin", "r", ["target"]),
]
METHODS = {
    "`gaussian`": [],
    "`calibrated`": ["--method", "calibrated"],
    "`general`": ["--method", "general", "--stop", "0.03"],
    "`general --targets observed`": ["--method", "general", "--stop", "0.03", "--targets", "observed"],
}
N_POINTS, MOST_REFERENCE, MOST_HELD_OUT = 60, 1_000, 1_000
LARGEST = 200
SPLITS = range(3)
GROUPS, ROUNDS = 10, 100
STRATA = 24


def table(name, target, without):
    """Names and numbers of a table, the target last; nothing if the file is not there."""
    path = next(DATA.glob(f"{name}.*"), None)
    if path is None:
        return None
    read = pyarrow.csv.read_csv(path) if path.suffix == ".csv" else pyarrow.parquet.read_table(path)
    names = [name for name in read.column_names if name not in {target, *without}] + [target]
    rows = np.column_stack([read[name].to_numpy() for name in names]).astype(float)
    return names, rows


def by_refits(reference, points, judges, smallest, random):
    """The value of each point by each judge, in groups of rounds. A point that joins a set moves its coefficients by a
    rank-one update of the inverse, which is the refit itself."""
    centre, spread = reference[:, :-1].mean(axis=0), reference[:, :-1].std(axis=0)

    def design(rows):
        return np.column_stack([np.ones(len(rows)), (rows[:, :-1] - centre) / spread]), rows[:, -1]

    (x, y), (x_points, y_points) = design(reference), design(points)
    judged = [(design(judge)[0].T @ design(judge)[0] / len(judge), design(judge)[0].T @ judge[:, -1] / len(judge)) for judge in judges]
    edges = np.unique(np.geomspace(smallest - 1, LARGEST, STRATA + 1).round().astype(int))
    values = np.zeros((len(judges), GROUPS, len(points)))
    for group in range(GROUPS):
        for _ in range(ROUNDS):
            order = random.permutation(len(x))
            for low, high in zip(edges, edges[1:], strict=False):
                rows = order[: random.integers(low, high)]
                gram = x[rows].T @ x[rows]
                while np.linalg.cond(gram) > 1e10:
                    rows = random.permutation(len(x))[: len(rows)]
                    gram = x[rows].T @ x[rows]
                inverse = np.linalg.inv(gram)
                coef = inverse @ (x[rows].T @ y[rows])
                moved = x_points @ inverse
                miss = (y_points - x_points @ coef) / (1 + (moved * x_points).sum(axis=1))
                steps = moved * miss[:, None]
                for value, (products, with_target) in zip(values, judged, strict=True):
                    gains = 2 * steps @ (with_target - products @ coef) - (steps @ products * steps).sum(axis=1)
                    value[group] += (high - low) * gains / (ROUNDS * LARGEST)
    return values


def by_method(folder, target, smallest, options):
    command = [PROGRAM, "value", "points.csv", "--reference", "reference.csv", "--target", target, "--task", "regression"]
    command += ["--refit-intercept", "--m", str(LARGEST), "--q", str(smallest), *options]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    return np.array([float(row["value"]) for row in csv.DictReader(ran.stdout.splitlines())])


def write(path, names, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([[repr(float(cell)) for cell in row] for row in rows])


def run():
    print("## Values of regression beside refits on real tables\n")
    print(f"{N_POINTS} points of each table, sets of up to {LARGEST} rows, q by default, an intercept refitted on each set; means over")
    print(f"{len(SPLITS)} random divisions. Each cell has Spearman's correlation with the values by {GROUPS * ROUNDS} rounds of refits, and the slope")
    print("of the line that predicts values from those by refits. `noise` is the error of the refits, as a share of their spread.\n")
    judges = ("reference", "held-out rows")
    lines = {judge: [] for judge in judges}
    for name, target, without in TABLES:
        found = table(name, target, without)
        if found is None:
            continue
        names, rows = found
        p = len(names) - 1
        smallest = p + 1 + max(p + 1, 10)
        noises, cells = {judge: [] for judge in judges}, {(judge, method): [] for judge in judges for method in METHODS}
        for split in SPLITS:
            random = np.random.default_rng(split)
            order = random.permutation(len(rows))
            rest = order[N_POINTS:]
            n_reference = min(MOST_REFERENCE, 2 * len(rest) // 3)
            points, reference, held_out = rows[order[:N_POINTS]], rows[rest[:n_reference]], rows[rest[n_reference:][:MOST_HELD_OUT]]
            groups = by_refits(reference, points, (reference, held_out), smallest, random)
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder) / "points.csv", names, points)
                write(Path(folder) / "reference.csv", names, reference)
                values = {method: by_method(folder, names[-1], smallest, options) for method, options in METHODS.items()}
            for judge, of_judge in zip(judges, groups, strict=True):
                truth = of_judge.mean(axis=0)
                noises[judge].append(np.sqrt((of_judge.var(axis=0, ddof=1) / GROUPS).mean()) / truth.std())
                for method, found in values.items():
                    slope = np.cov(truth, found)[0, 1] / truth.var(ddof=1)
                    cells[judge, method].append((spearmanr(truth, found).statistic, slope))
        for judge in judges:
            means = [np.mean(cells[judge, method], axis=0) for method in METHODS]
            shown = " | ".join(f"{rank:.2f}, {slope:.2f}".replace("-", "−") for rank, slope in means)
            lines[judge].append(f"| {name} | {np.mean(noises[judge]):.2f} | {shown} |")
    for judge in judges:
        print(f"**Judged on the {judge}**\n")
        print(f"| table | noise | {' | '.join(METHODS)} |")
        print("|---" * (2 + len(METHODS)) + "|")
        print("\n".join(lines[judge]) + "\n")
