"""Makes neighbour_weights.json: weights of places in a list of neighbours, from their definition.

    python3 testdata/neighbour_weights.py > testdata/neighbour_weights.json      (no packages; half a minute)

Shares no code and no closed form with dshap. A weight is

    w_i = (1/m) sum_s C(i-1, k-1) C(n-i, s-k) / C(n, s),    s = max(q-1, k) ... min(m-1, n)

and G_i, the weight of all places after i, is (1/m) sum_s P(fewer than k of s rows are among the first i). Short lists
have both for every i, in exact fractions; long ones for some i, with every term of the sum in 60-digit decimals.
"""

import json
import sys
from decimal import Decimal, getcontext
from fractions import Fraction
from math import comb

getcontext().prec = 60
getcontext().Emin = -999999999


def sizes(n, k, q, m):
    return max(q - 1, k), min(m - 1, n)


def digits(number):
    if isinstance(number, Fraction):
        number = Decimal(number.numerator) / Decimal(number.denominator)
    return f"{number:.25e}"


def short(n, k, q, m):
    first, last = sizes(n, k, q, m)

    def weight(i):
        terms = (Fraction(comb(i - 1, k - 1) * comb(n - i, s - k), comb(n, s)) for s in range(first, last + 1))
        return sum(terms, Fraction(0)) / m

    def tail(i):
        terms = (
            Fraction(comb(i, h) * comb(n - i, s - h), comb(n, s)) for s in range(first, last + 1) for h in range(min(k, s + 1))
        )
        return sum(terms, Fraction(0)) / m

    places = list(range(1, n + 1))
    weights = [weight(i) for i in places]
    tails = [tail(i) for i in places]
    assert all(sum(weights[i:], Fraction(0)) == tails[i - 1] for i in places)
    return row(n, k, q, m, places, weights, tails)


def ratio_sum(start, n, i, h, first, last):
    """Sum over s of start * C(n-i, s-h)/C(n, s) * C(n, h), by the ratio of neighbouring terms, from s = h on."""
    term, total = start, Decimal(0)
    for s in range(h, last + 1):
        if s >= first:
            total += term
        if s < last:
            term = term * ((s + 1) * (n - i - s + h)) / ((s + 1 - h) * (n - s))
    return total


def long(n, k, q, m, places, with_tails):
    first, last = sizes(n, k, q, m)

    def weight(i):
        start = Decimal(comb(i - 1, k - 1)) / Decimal(comb(n, k))
        return ratio_sum(start, n, i, k, first, last) / m

    def tail(i):
        starts = (Decimal(comb(i, h)) / Decimal(comb(n, h)) for h in range(k))
        return sum((ratio_sum(start, n, i, h, first, last) for h, start in enumerate(starts)), Decimal(0)) / m

    return row(n, k, q, m, places, map(weight, places), map(tail, places) if with_tails else None)


def row(n, k, q, m, places, weights, tails):
    out = {"n": n, "k": k, "q": q, "m": m, "i": list(places), "w": [digits(w) for w in weights]}
    if tails is not None:
        out["G"] = [digits(g) for g in tails]
    print(n, k, q, m, file=sys.stderr)
    return out


def main():
    cases = [
        short(*case)
        for case in [
            (2, 1, 2, 3),
            (7, 1, 2, 8),
            (7, 3, 4, 5),
            (9, 9, 10, 10),
            (12, 3, 1, 9),
            (12, 3, 7, 30),
            (25, 5, 6, 20),
            (25, 5, 20, 20),
            (40, 10, 11, 41),
            (60, 4, 31, 33),
            (60, 20, 25, 50),
        ]
    ]
    cases += [
        long(1000, 5, 6, 1001, [5, 6, 40, 500, 999, 1000], True),
        long(1000, 5, 700, 701, [5, 7, 12, 100, 300, 301], True),
        long(30000, 10, 11, 500, [10, 11, 100, 3000, 20000, 30000], True),
        long(30000, 100, 101, 30000, [100, 150, 1000, 20000], False),
        long(30000, 7, 3000, 20000, [7, 20, 70, 150, 400], True),
        long(30000, 400, 20000, 20050, [500, 550, 600, 650, 800], False),
        long(1000000, 5, 6, 1000001, [5, 1000, 1000000], False),
        long(1000000, 5, 6, 1000, [5, 300, 5000, 200000, 999990], False),
        long(1000000, 50, 200001, 700000, [60, 200, 300, 700], False),
        long(1000000, 3, 999999, 1000000, [3, 4], False),
    ]
    print('{"cases": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]}")


main()
