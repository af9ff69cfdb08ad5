"""What dropping the rows of lowest `gaussian` value does to a logistic model: accuracy and log-loss on held-out rows.
Uses the program and nothing but the standard library. Prints Markdown.

    python3 benches/dropping.py PROGRAM [DRAWS]
"""

import csv
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from clean_quick import LABELS, dot, fitted, load, loss

SHARES = (0.0, 0.1, 0.2, 0.3)


def values(program, x, y):
    """The value of each row against the others."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "t.csv"), Path(folder, "v.csv")
        with open(table, "w") as file:
            file.write(",".join(f"x{j}" for j in range(1, len(x[0]))) + ",y\n")
            for row, label in zip(x, y):
                file.write(",".join(f"{cell:.8g}" for cell in row[1:]) + f",{'yes' if label else 'no'}\n")
        subprocess.run([program, "value", table, "--target", "y", "-o", out, "--quiet"], check=True, capture_output=True)
        with open(out) as lines:
            return [float(row["value"]) for row in csv.DictReader(lines)]


def one_draw(program, x, y, seed):
    rng = random.Random(seed)
    order = rng.sample(range(len(y)), len(y))
    n_own = 2 * len(y) // 3
    own, rest = order[:n_own], order[n_own:]
    own_x, own_y = [x[i] for i in own], [y[i] for i in own]
    rest_x, rest_y = [x[i] for i in rest], [y[i] for i in rest]
    value = values(program, own_x, own_y)
    lowest = sorted(range(n_own), key=value.__getitem__)
    found = []
    for order in (lowest, rng.sample(range(n_own), n_own)):
        for share in SHARES:
            kept = order[round(share * n_own) :]
            beta = fitted([own_x[i] for i in kept], [own_y[i] for i in kept], True)
            right = sum((dot(row, beta) > 0) == bool(label) for row, label in zip(rest_x, rest_y))
            found += [right / len(rest_y), loss(beta, rest_x, rest_y, True)]
    return found


def main(program, draws=8):
    print("| table | dropped | accuracy, lowest values | at random | log-loss, lowest values | at random |")
    print("|---" * 6 + "|")
    for name, file in LABELS.items():
        x, y = load(file)
        found = [one_draw(program, x, y, seed) for seed in range(int(draws))]
        mean = [sum(column) / len(found) for column in zip(*found)]
        for place, share in enumerate(SHARES):
            low, chance = mean[2 * place : 2 * place + 2], mean[8 + 2 * place : 10 + 2 * place]
            print(f"| {name} | {share:.0%} | {low[0]:.3f} | {chance[0]:.3f} | {low[1]:.3f} | {chance[1]:.3f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
