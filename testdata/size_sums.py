"""Makes size_sums.json: the sums H2, H3, H4 of Theorem 2 and -dH2/da, with 30-digit arithmetic.

    python3 testdata/size_sums.py > testdata/size_sums.json      (mpmath 1.4; half an hour)

Shares no code with dshap. Where there are few terms, each expectation over a chi-squared variable
is a Tricomi function,

    E[1/(a+T)^k] = (1/2)^(nu/2) a^(nu/2-k) U(nu/2, nu/2+1-k, a/2),   T ~ chi2(nu).

Where there are many, 1/(a+T)^k is written as an integral over t, the sum over nu is done inside it by
Euler and Maclaurin (with exponential integrals), and tanh-sinh quadrature does the rest. The two ways
are compared where both can be used.
"""

import json
import sys

from mpmath import bernoulli, binomial, e1, exp, factorial, hyperu, log, log1p, mp, mpf, nstr, quad

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
    """Term by term."""
    return sum(term(name, p, mpf(nu), a) for nu in range(first, last + 1))


def power_sum(log_y, p, first, last, power):
    """Sum over nu of w(nu) nu^[power=1] / (nu-2)^[power=-1] exp(nu log_y), log_y < 0."""
    # w nu = nu + p-1 + (p-1)/(nu-1);  w/(nu-2) = p/(nu-2) - (p-1)/(nu-1);  w = 1 + (p-1)/(nu-1)
    poly, poles = {0: ([1], {1: p - 1}), 1: ([p - 1, 1], {1: p - 1}), -1: ([], {2: p, 1: -(p - 1)})}[power]
    term = lambda nu: (sum(c * nu**k for k, c in enumerate(poly)) + sum(mpf(c) / (nu - at) for at, c in poles.items())) * exp(nu * log_y)
    start = first + 60
    head = sum(term(mpf(nu)) for nu in range(first, start))

    def antiderivative(nu):
        value = mpf(0)
        if len(poly) > 0:
            value += poly[0] * exp(nu * log_y) / log_y
        if len(poly) > 1:
            value += poly[1] * exp(nu * log_y) * (nu / log_y - 1 / log_y**2)
        for at, c in poles.items():
            value += c * exp(at * log_y) * -e1(-(nu - at) * log_y)
        return value

    def derivative(nu, k):
        value = mpf(0)
        for i in range(k + 1):
            outer = binomial(k, i) * log_y ** (k - i)
            inner = sum(c * nu ** (j - i) * factorial(j) / factorial(j - i) for j, c in enumerate(poly) if j >= i)
            inner += sum(mpf(c) * (-1) ** i * factorial(i) / (nu - at) ** (i + 1) for at, c in poles.items())
            value += outer * inner
        return value * exp(nu * log_y)

    s, l = mpf(start), mpf(last)
    tail = antiderivative(l) - antiderivative(s) + (term(s) + term(l)) / 2
    for k in range(1, 10):
        tail += bernoulli(2 * k) / factorial(2 * k) * (derivative(l, 2 * k - 1) - derivative(s, 2 * k - 1))
    return head + tail


def total_of_many(name, p, first, last, a):
    """By an integral over t = exp(u)."""

    def integrand(u):
        t = exp(u)
        log_y = -log1p(2 * t) / 2
        if first * log_y < -300:
            return mpf(0)
        if name == "h2":
            return t * t * exp(-a * t) * power_sum(log_y, p, first, last, 0)
        if name == "h3":
            return t * t * exp(-a * t + 2 * log_y) * power_sum(log_y, p, first, last, 1)
        if name == "h4":
            return a * t * exp(-a * t - 2 * log_y) * power_sum(log_y, p, first, last, -1)
        return t**3 * exp(-a * t) * power_sum(log_y, p, first, last, 0)

    lowest = log(mpf(10) ** -32 / (a + last))
    highest = min(log(80 / a), 200 / mpf(first) + 60)
    n_panels = int((highest - lowest) / 4) + 1
    points = [lowest + (highest - lowest) * k / n_panels for k in range(n_panels + 1)]
    return quad(integrand, points, maxdegree=5)


def main():
    for name in ["h2", "h3", "h4", "neg_dh2"]:
        few, many = (way(name, 7, 9, 480, mpf("2.5")) for way in (total, total_of_many))
        assert abs(many / few - 1) < mpf(10) ** -20, (name, few, many)
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
            value = (total if last - first < 500 else total_of_many)(name, p, first, last, mpf(a))
            if mpf(10) ** -300 < value < mpf(10) ** 300:
                row[name] = nstr(value, 22)
        rows.append(row)
        print(len(rows), "of", len(cases), file=sys.stderr)
    note = "Sums over nu = nu_first..nu_last of w E[...], w = 1+(p-1)/(nu-1), T ~ chi2(nu); see size_sums.py. Inputs are the doubles nearest the decimals; 22 significant digits."
    print('{"note": ' + json.dumps(note) + ',\n"cases": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]}")


main()
