"""How often `dshap clean` recommends nothing on clean tables, and what its recommendations do to corrupted ones: the
study of `./bench clean` with the program instead of the Python package, and nothing but the standard library. A loss
is that of a linear or logistic model alone. Prints Markdown.

    python3 benches/clean_quick.py PROGRAM [DRAWS [TABLE ...]]
"""

import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(os.environ.get("DSHAP_DATA", Path(__file__).parents[2] / "shared" / "data"))
LABELS = {"australian": "australian.csv", "pima": "pima_diabetes.csv", "breast_cancer": "breast_cancer.csv"}
NUMBERS = {"airfoil": "airfoil.csv", "abalone": "abalone.csv", "diabetes": "diabetes_efron.csv"}
MOST = 1_000


def load(file):
    with open(DATA / file) as lines:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(lines))[1:]]
    x, y = [row[:-1] for row in rows], [row[-1] for row in rows]
    keep = [j for j in range(len(x[0])) if len({row[j] for row in x}) > 1]
    columns = []
    for j in keep:
        column = [row[j] for row in x]
        mean = sum(column) / len(column)
        deviation = math.sqrt(sum((cell - mean) ** 2 for cell in column) / len(column))
        columns.append([(cell - mean) / deviation for cell in column])
    return [[1.0, *row] for row in zip(*columns)], y


def solved(a, b):
    """Solves a·x = b by elimination with pivots; a is symmetric and positive."""
    n = len(b)
    rows = [a[i][:] + [b[i]] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            if factor:
                rows[k] = [u - factor * v for u, v in zip(rows[k], rows[i])]
    out = [0.0] * n
    for i in reversed(range(n)):
        out[i] = (rows[i][n] - sum(rows[i][k] * out[k] for k in range(i + 1, n))) / rows[i][i]
    return out


def dot(u, v):
    return sum(map(lambda a, b: a * b, u, v))


def weighted(x, y, weights, ridge):
    p = len(x[0])
    a = [[sum(w * row[i] * row[j] for w, row in zip(weights, x)) for j in range(p)] for i in range(p)]
    for i in range(1, p):
        a[i][i] += ridge
    return solved(a, [sum(w * row[i] * cell for w, row, cell in zip(weights, x, y)) for i in range(p)])


def fitted(x, y, is_label):
    """Least squares, or logistic regression with a ridge of 1, in standardised columns."""
    if not is_label:
        return weighted(x, y, [1.0] * len(y), 1e-6)
    beta = [0.0] * len(x[0])
    for _ in range(8):
        eta = [max(-30.0, min(30.0, dot(row, beta))) for row in x]
        prob = [1 / (1 + math.exp(-each)) for each in eta]
        weights = [max(p * (1 - p), 1e-9) for p in prob]
        working = [e + (label - p) / w for e, label, p, w in zip(eta, y, prob, weights)]
        beta = weighted(x, working, weights, 1.0)
    return beta


def loss(beta, x, y, is_label):
    eta = [dot(row, beta) for row in x]
    if not is_label:
        return sum((cell - each) ** 2 for cell, each in zip(y, eta)) / len(y)
    prob = [min(max(1 / (1 + math.exp(-max(-30.0, min(30.0, each)))), 1e-6), 1 - 1e-6) for each in eta]
    return -sum(math.log(p if label else 1 - p) for p, label in zip(prob, y)) / len(y)


def cleaned(program, x, y, is_label, seed):
    """What `clean` recommends: rows left with their targets, and whether anything was recommended."""
    with tempfile.TemporaryDirectory() as folder:
        table, out, summary = (Path(folder, name) for name in ("t.csv", "out.csv", "s.json"))
        words = (lambda cell: "yes" if cell else "no") if is_label else repr
        with open(table, "w") as file:
            file.write("row," + ",".join(f"x{j}" for j in range(1, len(x[0]))) + ",y\n")
            for number, (row, cell) in enumerate(zip(x, y)):
                file.write(f"r{number}," + ",".join(f"{value:.8g}" for value in row[1:]) + f",{words(cell)}\n")
        task = "classification" if is_label else "regression"
        line = f"clean {table} --target y --exclude row --task {task} --seed {seed} -o {out} --summary {summary}"
        subprocess.run([program, *line.split()], check=True, capture_output=True)
        acts = json.loads(summary.read_text())["recommended"] is not None
        with open(out) as lines:
            left = list(csv.reader(lines))[1:]
    rows = [int(row[0][1:]) for row in left]
    targets = [float(row[-1] == "yes") if is_label else float(row[-1]) for row in left]
    return rows, targets, acts


def one_draw(program, x, y, is_label, seed):
    rng = random.Random(seed)
    chosen = rng.sample(range(len(y)), min(MOST, len(y)))
    x, y = [x[i] for i in chosen], [y[i] for i in chosen]
    if is_label:
        y = [float(label == max(y)) for label in y]
    beta = fitted(x, y, is_label)
    eta = [dot(row, beta) for row in x]
    if is_label:
        redrawn = [float(rng.random() < 1 / (1 + math.exp(-each))) for each in eta]
        deviation = 0.0
    else:
        deviation = math.sqrt(loss(beta, x, y, False))
        redrawn = [each + deviation * rng.gauss(0, 1) for each in eta]
    alarm = cleaned(program, x, redrawn, is_label, seed)[2]
    as_it_is = cleaned(program, x, y, is_label, seed)[2]
    n_own = 2 * len(y) // 3
    own_x, own_y, rest_x, rest_y = x[:n_own], y[:n_own], x[n_own:], y[n_own:]
    wrong = set(rng.sample(range(n_own), round(0.05 * n_own)))
    move = lambda cell: 1 - cell if is_label else cell + rng.choice([-5, 5]) * deviation
    own_y = [move(cell) if i in wrong else cell for i, cell in enumerate(own_y)]
    rows, targets, acts = cleaned(program, own_x, own_y, is_label, seed)
    measured = lambda x, y: loss(fitted(x, y, is_label), rest_x, rest_y, is_label)
    before = measured(own_x, own_y)
    after = measured([own_x[i] for i in rows], targets) if acts else before
    kept = [i for i in range(n_own) if i not in wrong]
    oracle = measured([own_x[i] for i in kept], [own_y[i] for i in kept])
    return not alarm, acts, after < before, after > before, after / before - 1, oracle < before, not as_it_is


def main(program, draws=8, *names):
    print("| table | clean: nothing | corrupted: acts | loss falls | loss rises | mean change of loss | oracle: loss falls | as it is: nothing |")
    print("|---" * 8 + "|")
    for places, is_label in ((LABELS, True), (NUMBERS, False)):
        for name, file in places.items():
            if names and name not in names:
                continue
            x, y = load(file)
            found = [one_draw(program, x, y, is_label, seed) for seed in range(int(draws))]
            mean = [sum(column) / len(found) for column in zip(*found)]
            cells = [f"{value:+.1%}" if i == 4 else f"{value:.0%}" for i, value in enumerate(mean)]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
