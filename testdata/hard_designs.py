"""Makes hard_designs.json: least squares on designs that defeat normal equations, in 120-digit arithmetic.

    python3 testdata/hard_designs.py > testdata/hard_designs.json      (mpmath 1.4; a minute)

Shares no code with dshap. Cells are doubles, written so that they read back to the same double; the
answers belong to exactly those doubles. Longley's table is the one of the American statistics of
1947-1962 that NIST certifies (coefficients known to 15 digits, compared at the end).
"""

import json
import random
import sys

from mpmath import lu_solve, matrix, mp, mpf, nstr

mp.dps = 120
DIGITS = 25


def solve(columns, y, intercept):
    """Coefficients, sigma^2, and per row the squared distance and the residual."""
    n, p = len(y), len(columns)
    exact = [[mpf(cell) for cell in column] for column in columns]
    target = [mpf(cell) for cell in y]
    if intercept:
        exact = [[cell - sum(column) / n for cell in column] for column in exact]
        target = [cell - sum(target) / n for cell in target]
    scales = [max(abs(cell) for cell in column) for column in exact]
    exact = [[cell / scale for cell in column] for scale, column in zip(scales, exact)]
    gram = matrix(p, p)
    moment = matrix(p, 1)
    for i in range(p):
        moment[i] = sum(a * b for a, b in zip(exact[i], target))
        for j in range(p):
            gram[i, j] = sum(a * b for a, b in zip(exact[i], exact[j]))
    coef = lu_solve(gram, moment)
    dist_sq, resid = [], []
    for i in range(n):
        x = matrix([column[i] for column in exact])
        dist_sq.append(n * (x.T * lu_solve(gram, x))[0])
        resid.append(target[i] - (x.T * coef)[0])
    noise = sum(e * e for e in resid) / (n - p - (1 if intercept else 0))
    return [b / scale for b, scale in zip(coef, scales)], noise, dist_sq, resid


def digits(number):
    return nstr(number, DIGITS, strip_zeros=False)


def case(family, columns, y, intercept=True):
    columns = [[float(cell) for cell in column] for column in columns]
    y = [float(cell) for cell in y]
    coef, noise, dist_sq, resid = solve(columns, y, intercept)
    return {
        "family": family,
        "intercept": int(intercept),
        "x": columns,
        "y": y,
        "coef": [digits(b) for b in coef],
        "noise_var": digits(noise),
        "dist_sq": [digits(d) for d in dist_sq],
        "resid": [digits(e) for e in resid],
    }


LONGLEY = """
60323 83.0 234289 2356 1590 107608 1947
61122 88.5 259426 2325 1456 108632 1948
60171 88.2 258054 3682 1616 109773 1949
61187 89.5 284599 3351 1650 110929 1950
63221 96.2 328975 2099 3099 112075 1951
63639 98.1 346999 1932 3594 113270 1952
64989 99.0 365385 1870 3547 115094 1953
63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955
67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957
66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959
69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961
70551 116.9 554894 4007 2827 130081 1962
"""

CERTIFIED = [15.0618722713733, -0.358191792925910e-01, -2.02022980381683, -1.03322686717359,
             -0.511041056535807e-01, 1829.15146461355]


def cases():
    draw = random.Random(20210413)

    def normal(n, mean=0.0, spread=1.0):
        return [mean + spread * draw.gauss(0, 1) for _ in range(n)]

    def answer(columns, noise=1.0):
        """A target that depends on all columns, each by its own scale."""
        n = len(columns[0])
        y = normal(n, 0.0, noise)
        for column in columns:
            mean = sum(column) / n
            spread = max(abs(cell - mean) for cell in column)
            b = draw.gauss(0, 1)
            y = [cell + b * ((x - mean) / spread) for cell, x in zip(y, column)]
        return y

    for degree in (3, 6, 9, 12):
        grid = [(i + 0.5) / 30 for i in range(30)]
        columns = [[t ** power for t in grid] for power in range(1, degree + 1)]
        yield case(f"powers of [0, 1], degree {degree}", columns, answer(columns))
        yield case(f"powers of [0, 1], degree {degree}, no intercept", columns, answer(columns), False)
    for degree in (2, 3):
        years = [1950.0 + i for i in range(25)]
        columns = [[t ** power for t in years] for power in range(1, degree + 1)]
        yield case(f"powers of years, degree {degree}", columns, answer(columns))
    for p in (3, 5, 8):
        columns = [[1 / (i + j + 1) for i in range(24)] for j in range(p)]
        yield case(f"Hilbert, {p} columns", columns, answer(columns))
        yield case(f"Hilbert, {p} columns, no intercept", columns, answer(columns), False)
    rows = [[float(cell) for cell in line.split()] for line in LONGLEY.split("\n") if line]
    longley = case("Longley", [[row[j] for row in rows] for j in range(1, 7)], [row[0] for row in rows])
    for found, certified in zip(longley["coef"], CERTIFIED):
        assert abs(float(found) / certified - 1) < 1e-14, (found, certified)
    yield longley
    for power in (2, 4, 6, 8, 10, 12):
        first, second = normal(20), normal(20)
        columns = [first, [a + 10.0 ** -power * b for a, b in zip(first, normal(20))], second]
        yield case(f"a copy but for 1e-{power}", columns, answer(columns))
    for power in (3, 6, 9):
        columns = [normal(20, 10.0 ** power), normal(20, -3 * 10.0 ** power), normal(20)]
        yield case(f"means of 1e{power}", columns, answer(columns))
        yield case(f"means of 1e{power}, no intercept", columns, answer(columns), False)
    scales = (1e-150, 1e-75, 1.0, 1e75, 1e150)
    plain = [normal(20) for _ in scales]
    columns = [[scale * cell for cell in column] for scale, column in zip(scales, plain)]
    yield case("scales of 1e-150 to 1e150", columns, answer(plain))
    near = [plain[0]] + [[a + 1e-7 * b for a, b in zip(plain[0], column)] for column in plain[1:]]
    columns = [[scale * cell for cell in column] for scale, column in zip(scales, near)]
    yield case("scales of 1e-150 to 1e150, copies but for 1e-7", columns, answer(near))
    for power in (4, 7, 10):
        columns = [normal(20) for _ in range(4)]
        yield case(f"noise of 1e-{power}", columns, answer(columns, 10.0 ** -power))


def main():
    note = ("Least squares on hard designs: x by columns, y, and exact answers to 25 digits; dist_sq is "
            "n x'G^-1 x with G the (centred) products, noise_var is RSS/(n - p - intercept); see hard_designs.py.")
    lines = ",\n".join(json.dumps(found) for found in cases())
    sys.stdout.write(f'{{"note": {json.dumps(note)},\n"cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
