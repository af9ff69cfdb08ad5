#!/usr/bin/env python3
"""Errors of NumPy's `lstsq`, and of the factorisation behind R's `lm`, on hard_designs.json, for docs/accuracy.md.

Needs NumPy. `lm` solves by Householder reflections of the columns as they are, the intercept first, and moves a column
that keeps less than 1e-7 of its length to the end and out of the fit (LINPACK's dqrdc2, as changed for R). R itself is
not needed: this file does the same in doubles.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np

from nist import by_numpy, digits

TOLERANCE = 1e-7


def by_lm(columns, y, intercept):
    """Coefficients (NaN for columns left out) and the residual standard deviation."""
    with np.errstate(all="ignore"):
        x = np.column_stack(([np.ones_like(y)] if intercept else []) + columns)
        n, p = x.shape
        order, rank, target = list(range(p)), p, y.copy()
        norms = [max(float(np.linalg.norm(x[:, j])), sys.float_info.min) for j in range(p)]
        for step in range(p):
            # Columns that have lost nearly all of their length go to the end.
            while step < rank and np.linalg.norm(x[step:, step]) < TOLERANCE * norms[step]:
                last = [*range(step), *range(step + 1, p), step]
                x, order, norms = x[:, last], [order[j] for j in last], [norms[j] for j in last]
                rank -= 1
            if step >= min(rank, n - 1):
                break
            v = x[step:, step].copy()
            v[0] += math.copysign(float(np.linalg.norm(v)), v[0])
            v /= np.linalg.norm(v)
            x[step:, step:] -= 2 * np.outer(v, v @ x[step:, step:])
            target[step:] -= 2 * v * (v @ target[step:])
        coef = np.full(p, math.nan)
        found = np.zeros(rank)
        for j in reversed(range(rank)):
            found[j] = (target[j] - x[j, j + 1 : rank] @ found[j + 1 :]) / x[j, j]
        coef[[order[j] for j in range(rank)]] = found
        return [*coef, math.sqrt(float(target[rank:] @ target[rank:]) / (n - rank))]


def main():
    print(f"NumPy {np.__version__}", file=sys.stderr)
    for case in json.loads(Path(__file__).with_name("hard_designs.json").read_text())["cases"]:
        columns = [np.array(column, float) for column in case["x"]]
        y = np.array(case["y"], float)
        coef, noise = [float(b) for b in case["coef"]], float(case["noise_var"])
        cells = [case["family"]]
        for solver in (by_numpy, by_lm):
            try:
                *found, deviation = solver(columns, y, case["intercept"])
            except np.linalg.LinAlgError:
                cells += ["fails", "fails"]
                continue
            # The scale of a column is no difficulty, so coefficients are compared one by one.
            found = found[1:] if case["intercept"] else found
            cells.append(f"{min(map(digits, found, coef)):.1f}")
            cells.append(f"{digits(deviation**2, noise):.1f}")
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
