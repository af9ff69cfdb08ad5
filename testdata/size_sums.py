"""Makes size_sums.json: the sums H2, H3, H4 of Theorem 2 and -dH2/da, with 30-digit arithmetic.

    python3 testdata/size_sums.py > testdata/size_sums.json      (mpmath 1.3; ten minutes)

Shares nothing with dshap: expectations over chi-squared variables are Tricomi functions,

    E[1/(a+T)^k] = (1/2)^(nu/2) a^(nu/2-k) U(nu/2, nu/2+1-k, a/2),   T ~ chi2(nu),

and sums over nu are taken term by term, or by Euler and Maclaurin where there are many.
"""

import json
import sys

from mpmath import bernoulli, diff, factorial, hyperu, mp, mpf, nstr, quad

mp.dps = 30


def inverse_moment(nu, a, k):
    """E[1/(a+T)^k] for real nu."""
    half = nu / 2
    return mpf(0.5) ** half * mpf(a) ** (half - k) * hyperu(half, half + 1 - k, mpf(a) / 2)


def term(name, p, nu, a):
    w = 1 + mpf(p - 1) / (nu - 1)
    if name == "h2":
        return w * inverse_moment(nu, a, 2)
    if name == "h3":  # E[T f(T)] for chi2(nu) is nu E[f(T')] for T' ~ chi2(nu+2)
        return w * nu * inverse_moment(nu + 2, a, 2)
    if name == "h4":  # E[f(T)/T] for chi2(nu) is E[f(T')]/(nu-2) for T' ~ chi2(nu-2)
        return w * a * inverse_moment(nu - 2, a, 1) / (nu - 2)
    return 2 * w * inverse_moment(nu, a, 3)


def total(name, p, first, last, a):
    if last - first < 500:
        return sum(term(name, p, mpf(nu), a) for nu in range(first, last + 1))
    head = 400
    start = first + head
    exact = sum(term(name, p, mpf(nu), a) for nu in range(first, start))
    f = lambda nu: term(name, p, nu, a)
    # Panels that double in length keep the integrand easy.
    points, width = [mpf(start)], mpf(head)
    while points[-1] + width < last:
        points.append(points[-1] + width)
        width *= 2
    points.append(mpf(last))
    integral = quad(f, points)
    mp.dps += 15  # numerical derivatives cost digits
    correction = (f(mpf(start)) + f(mpf(last))) / 2
    for k in range(1, 4):
        derivatives = [diff(f, mpf(x), 2 * k - 1, h=mpf(10) ** -6) for x in (last, start)]
        correction += bernoulli(2 * k) / factorial(2 * k) * (derivatives[0] - derivatives[1])
    mp.dps -= 15
    return exact + integral + correction


def main():
    cases = []
    shapes = [(1, 2, 30), (1, 3, 40), (3, 4, 25), (2, 5, 60), (7, 6, 200), (4, 7, 90), (30, 13, 300)]
    distances = ["1e-300", "3e-41", "1e-39", "1e-17", "2.5e-6", "0.01", "0.7", "3.3", "41", "977", "2e5", "1e9", "1e24", "7e39", "2e40", "1e300"]
    for p, first, last in shapes:
        for a in distances:
            cases.append((p, first, last, float(a)))
    large = [(10, 10, 10**4, 25), (2000, 2000, 10**5, 0.3), (2000, 2000, 10**5, 2100)]
    large += [(2000, 3, 10**7, 1e-12), (2000, 3, 10**7, 25), (100, 100, 10**7, 1e5), (1, 3, 10**7, 3e8)]
    cases += [(p, first, last, float(a)) for p, first, last, a in large]
    rows = []
    for p, first, last, a in cases:
        row = {"p": p, "nu_first": first, "nu_last": last, "a": a}
        for name in ["h2", "h3", "h4", "neg_dh2"]:
            if name == "h4" and first == 2:
                continue  # infinite
            value = total(name, p, first, last, mpf(a))
            if mpf(10) ** -300 < value < mpf(10) ** 300:
                row[name] = nstr(value, 22)
        rows.append(row)
        print(len(rows), "of", len(cases), file=sys.stderr)
    note = "Sums over nu = nu_first..nu_last of w E[...], w = 1+(p-1)/(nu-1), T ~ chi2(nu); see size_sums.py. Inputs are the doubles nearest the decimals; 22 significant digits."
    print('{"note": ' + json.dumps(note) + ',\n"cases": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]}")


main()
