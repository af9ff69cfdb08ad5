"""Makes the tables of this folder: small, with text, ties, a missing cell and owners. Standard library only."""

import csv
import random


def write(name, header, rows):
    with open(name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def table(n, seed, labels):
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        x = [round(rng.gauss(0, 1), 4) for _ in range(3)]
        town = rng.choice(["Bern", "Oslo", "Rome"])
        signal = 1.5 * x[0] - x[1] + (0.8 if town == "Oslo" else 0) + rng.gauss(0, 1)
        if labels == 0:
            y = round(signal, 4)
        elif labels == 2:
            y = "yes" if signal > 0.2 else "no"
        else:
            y = ["low", "mid", "high"][(signal > -0.6) + (signal > 0.9)]
        w = round(rng.uniform(0.5, 2), 3)
        rows.append([f"r{i}", *x, town, w, rng.choice(["north", "south"]), y])
    return rows


HEADER = ["id", "a", "b", "c", "town", "w", "owner", "y"]
for name, n, seed, labels in [
    ("numbers.csv", 60, 1, 0),
    ("numbers-new.csv", 15, 2, 0),
    ("labels.csv", 80, 3, 2),
    ("labels-new.csv", 15, 4, 2),
    ("three.csv", 120, 5, 3),
    ("three-new.csv", 15, 6, 3),
]:
    rows = table(n, seed, labels)
    if name == "numbers.csv":
        rows[7][2] = ""
    write(name, HEADER, rows)
rng = random.Random(7)
write("cells.csv", ["u", "v", "patient"], [[round(rng.gauss(0, 1), 3), round(rng.gauss(1, 2), 3), rng.choice("abc")] for _ in range(50)])
