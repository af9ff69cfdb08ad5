#!/usr/bin/env python3
"""Makes the small tables that the commands of docs/paper-map.md use.

The same seed gives the same files: python3 testdata/paper/make.py
"""

import math
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent


def write(name, header, rows):
    lines = [header] + [",".join(str(cell) for cell in row) for row in rows]
    (HERE / name).write_text("\n".join(lines) + "\n")


def regression(draws, n):
    for _ in range(n):
        x = [round(draws.gauss(0, 1), 3) for _ in range(3)]
        yield [*x, round(x[0] - 0.5 * x[1] + draws.gauss(0, 0.7), 3)]


def labels(draws, n, words):
    for _ in range(n):
        x = [round(draws.gauss(0, 1), 3) for _ in range(2)]
        scores = [math.exp(1.2 * x[0] * k - 0.6 * x[1] * k * k) for k in range(len(words))]
        yield [*x, draws.choices(words, scores)[0]]


draws = random.Random(20210707)
write("rows.csv", "x1,x2,x3,y", regression(draws, 120))
write("reference.csv", "x1,x2,x3,y", regression(draws, 200))
write("test.csv", "x1,x2,x3,y", regression(draws, 100))
write("few.csv", "x1,x2,x3,y", regression(draws, 14))
teams = (["north", "south", "south", "west"][i % 4] for i in range(80))
write("teams.csv", "x1,x2,x3,y,team", ([*row, team] for row, team in zip(regression(draws, 80), teams)))
weights = (i % 3 + 1 for i in range(60))
write("weighted.csv", "x1,x2,x3,y,weight", ([*row, weight] for row, weight in zip(regression(draws, 60), weights)))
write("labels.csv", "x1,x2,label", labels(draws, 150, ["no", "yes"]))
write("species.csv", "x1,x2,species", labels(draws, 150, ["elm", "fir", "oak"]))
cells = ((round(draws.gauss(0, 1), 3), round(draws.gauss(0, 2), 3), "ABC"[i % 3]) for i in range(60))
write("cells.csv", "x1,x2,patient", cells)
write("density.csv", "x1,x2", ((round(draws.gauss(0, 1), 3), round(draws.gauss(0, 2), 3)) for _ in range(90)))
# The powers of t to degree 6, which defeat normal equations.
grid = [(i + 0.5) / 40 for i in range(40)]
powers = ([*(t**k for k in range(1, 7)), round(math.sin(5 * t) + draws.gauss(0, 0.1), 3)] for t in grid)
write("powers.csv", ",".join(f"t{k}" for k in range(1, 7)) + ",y", powers)
