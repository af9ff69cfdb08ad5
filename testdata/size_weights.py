"""Makes size_weights.json: A(n, m), B(n, m) and D(n, m) of Theorem 5 with 60-digit arithmetic.

    python3 testdata/size_weights.py > testdata/size_weights.json      (mpmath 1.3; seconds)

Shares no code with dshap: polygamma functions of mpmath, whose cancellation 60 digits bear, and for up to
3000 terms the sums themselves, which must agree.
"""

import json

from mpmath import digamma, mp, mpf, nstr, polygamma

mp.dps = 60


def weights(n, m):
    n, m = mpf(n), mpf(m)
    squares = polygamma(1, n) - polygamma(1, n + m)
    own = n * n / m * squares
    joint = 2 * n / m * (digamma(n + m) - digamma(n) - n * squares)
    # Sum over s = 1 .. m-1 of 1/s - 1/(n+s) + n/(n+s)^2.
    spread = (digamma(m) - digamma(1) - digamma(n + m) + digamma(n + 1) + n * (squares - 1 / n**2)) / m
    return own, joint, spread


def by_adding(n, m):
    n = mpf(n)
    own = sum(n**2 / (n + s) ** 2 for s in range(m)) / m
    joint = sum(2 * n * s / (n + s) ** 2 for s in range(m)) / m
    spread = sum((1 - s**2 / (n + s) ** 2) / s for s in range(1, m)) / m
    return own, joint, spread


def main():
    sizes = [1, 2, 3, 7, 31, 32, 33, 100, 1000, 12345, 10**6, 10**7]
    most = [1, 2, 3, 10, 63, 64, 65, 100, 200, 3000, 10**5, 10**7, 10**12]
    rows = []
    for n in sizes:
        for m in most:
            found = weights(n, m)
            if m <= 3000:
                for one, other in zip(found, by_adding(n, m)):
                    assert abs(one - other) <= mpf(10) ** -35 * abs(other) + mpf(10) ** -45, (n, m, one, other)
                found = by_adding(n, m)
            rows.append({"n": n, "m": m} | {k: nstr(v, 22) for k, v in zip(["A", "B", "D"], found)})
    note = "A, B, D of Theorem 5 for sets of n rows and sizes up to m; see size_weights.py. 22 significant digits."
    print('{"note": ' + json.dumps(note) + ',\n"cases": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]}")


main()
