#!/usr/bin/env python3
"""Digits that NumPy's `lstsq` and R's `lm` keep on the problems of nist.json, as rows of the table in docs/accuracy.md.

Needs NumPy, and R for its columns (Debian: r-base-core). Numbers go to R in hexadecimal, so that both see the same.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np

R_CODE = """
lines <- strsplit(readLines(file("stdin")), " ")
intercept <- lines[[1]][1] == "1"
y <- as.numeric(lines[[2]])
x <- sapply(lines[-(1:2)], as.numeric)
fit <- if (intercept) lm(y ~ x) else lm(y ~ x - 1)
cat(sprintf("%.17g", c(coef(fit), sqrt(sum(resid(fit)^2) / fit$df.residual))), sep = "\\n")
"""


def digits(found, certified):
    """Digits that two numbers share, at most 15."""
    if not math.isfinite(found):
        return 0.0
    if found == certified:
        return 15.0
    return max(0.0, min(15.0, -math.log10(abs((found - certified) / (certified or 1.0)))))


def by_numpy(columns, y, intercept):
    design = np.column_stack(([np.ones_like(y)] if intercept else []) + columns)
    found = np.linalg.lstsq(design, y, rcond=None)[0]
    residual = y - design @ found
    return [*found, math.sqrt(residual @ residual / (len(y) - design.shape[1]))]


def by_r(columns, y, intercept):
    rows = [[str(int(intercept))], *([float(v).hex() for v in c] for c in (y, *columns))]
    text = "\n".join(" ".join(row) for row in rows) + "\n"
    done = subprocess.run(["Rscript", "-e", R_CODE], input=text, capture_output=True, text=True, check=True)
    return [float("nan") if word == "NA" else float(word) for word in done.stdout.split()]


def main():
    versions = subprocess.run(["R", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    print(f"NumPy {np.__version__}, {versions}", file=sys.stderr)
    for case in json.loads(Path(__file__).with_name("nist.json").read_text())["cases"]:
        columns = [np.array(column, float) for column in case["columns"]]
        y = np.array(case["y"], float)
        certified = [float(v) for v in case["certified"]]
        cells = [case["name"]]
        for solver in (by_numpy, by_r):
            *found, deviation = solver(columns, y, case["intercept"])
            cells.append(f"{min(map(digits, found, certified)):.1f}")
            cells.append(f"{digits(deviation, float(case['residual_std'])):.1f}")
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
