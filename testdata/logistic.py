"""Makes reference/logistic.json: logistic fits and the values that follow, with 80-digit arithmetic.

    python3 testdata/logistic.py > testdata/reference/logistic.json      (mpmath 1.3; a minute)

Shares no code with dshap. Plain Newton steps on the uncentred design until they are smaller than 1e-50 of the coefficients,
on inputs that are IEEE doubles and used exactly; results are decimal strings with 22 digits.
"""

import json
import random
import sys

from mpmath import exp, hyperu, log, lu_solve, matrix, mp, mpf, nstr, sqrt

mp.dps = 80
SHOWN = 12


def text(x):
    return nstr(x, 22)


def quadratic(x, a):
    return sum(x[i] * a[i, j] * x[j] for i in range(len(x)) for j in range(len(x)))


def newton(design, y, c, penalty):
    """Maximises sum c log P(y) - 1/2 sum penalty beta^2, halving steps that do no good."""
    p = len(design[0])
    beta = [mpf(0)] * p

    def loss(beta):
        total = sum(k * b * b for k, b in zip(penalty, beta)) / 2
        for x, label, own in zip(design, y, c):
            eta = sum(a * b for a, b in zip(x, beta))
            total += own * log(1 + exp(-eta if label else eta))
        return total

    now = loss(beta)
    for _ in range(200):
        gradient, hessian, _ = sums(design, y, c, beta)
        for j in range(p):
            gradient[j] -= penalty[j] * beta[j]
            hessian[j, j] += penalty[j]
        step = lu_solve(hessian, gradient)
        share = mpf(1)
        while True:
            tried = [b + share * s for b, s in zip(beta, step)]
            then = loss(tried)
            if then <= now + mpf(10) ** -40:
                break
            share /= 2
        beta, now = tried, then
        if max(abs(s) for s in step) < mpf(10) ** -50 * (1 + max(abs(b) for b in beta)):
            return beta
    raise RuntimeError("did not converge")


def sums(design, y, c, beta):
    p = len(beta)
    gradient, hessian, rows = matrix(p, 1), matrix(p, p), []
    for x, label, own in zip(design, y, c):
        pi = 1 / (1 + exp(-sum(a * b for a, b in zip(x, beta))))
        w = pi * (1 - pi)
        rows.append((pi, w, label - pi))
        for i in range(p):
            gradient[i] += own * x[i] * (label - pi)
            for j in range(p):
                hessian[i, j] += own * w * x[i] * x[j]
    return gradient, hessian, rows


def inverse_moment(nu, a, k):
    """E[1/(a+T)^k], T ~ chi2(nu)."""
    half = mpf(nu) / 2
    return mpf(0.5) ** half * a ** (half - k) * hyperu(half, half + 1 - k, a / 2)


def gain(p, q, m, a, product):
    """(1/m) sum over sizes of w E[(a - a e2)/(a+T)^2 + a/(T(a+T))]."""
    total = mpf(0)
    for nu in range(q - p, m - p + 1):
        w = 1 + mpf(p - 1) / (nu - 1)
        total += w * ((a - product) * inverse_moment(nu, a, 2) + a * inverse_moment(nu - 2, a, 1) / (nu - 2))
    return total / m


def printed(p, q, m, a, e2, sigma2, side, stop=None):
    """Corollary 4 as printed, c = C = 1, no ridge."""
    total = mpf(0)
    for j in range(q - 1, m):
        delta = (sqrt(mpf(p)) + sqrt(log(j * sqrt(mpf(m))))) / sqrt(mpf(j))
        low, high = 1 / (j * (1 + delta) ** 2), 1 / (j * (1 - delta) ** 2)
        ratio = ((1 + a * low) / (1 + a * high)) ** 2
        if side == "lower":
            term = a * low**2 / (1 + a * high) ** 2 * ((2 + a * low) * sigma2 - e2 / ratio)
        else:
            term = a * high**2 / (1 + a * low) ** 2 * ((2 + a * high) * sigma2 - e2 * ratio)
        total += term
        if stop is not None and abs(term) <= stop * abs(total):
            break
    return total / m


def authors(x, beta, rows, n_shown):
    """Distance and squared residual on the authors' variables, and sigma2."""
    n, p = len(x), len(x[0])
    roots = [sqrt(w) for _, w, _ in rows]
    eta = [beta[0] + sum(b * a for b, a in zip(beta[1:], line)) for line in x]
    xs = [[root * a for a in line] for root, line in zip(roots, x)]
    zs = [root * e + r / root for root, e, (_, _, r) in zip(roots, eta, rows)]
    means = [sum(line[j] for line in xs) / n for j in range(p)]
    mean = sum(zs) / n
    xs = [[a - b for a, b in zip(line, means)] for line in xs]
    zs = [z - mean for z in zs]
    gram = matrix(p, p)
    cross = matrix(p, 1)
    for line, z in zip(xs, zs):
        for i in range(p):
            cross[i] += line[i] * z
            for j in range(p):
                gram[i, j] += line[i] * line[j]
    coef = lu_solve(gram, cross)
    residuals = [z - sum(line[j] * coef[j] for j in range(p)) for line, z in zip(xs, zs)]
    sigma2 = sum(e * e for e in residuals) / n
    inv = gram**-1
    return [(n * quadratic(xs[i], inv), residuals[i] ** 2) for i in range(n_shown)], sigma2


def case(name, seed, n, p, intercept=True, ridge=0, weights=False, coef=None, shift=None, scale=None, flip=None, base=0.3, sizes=None):
    draw = random.Random(seed)
    coef = coef or [0.9, -0.6, 0.4, -1.1][:p]
    x, y = [], []
    for i in range(n):
        u = [draw.gauss(0, 1) for _ in range(p)]
        eta = base + sum(b * a for b, a in zip(coef, u))
        label = int(draw.random() < 1 / (1 + 2.718281828459045**-eta))
        if flip is not None:  # labels follow the sign, but for one row
            label = int(eta > 0)
            if i == flip:
                label = 1 - label
        x.append([round((a * (scale or [1] * p)[j]) + (shift or [0] * p)[j], 9) for j, a in enumerate(u)])
        y.append(label)
    own = [round(0.25 + 2 * draw.random(), 3) for _ in range(n)] if weights else None
    return finished(name, x, y, own, intercept, mpf(ridge), sizes)


def finished(name, x, y, own, intercept, ridge, sizes):
    n, p = len(x), len(x[0])
    exact = [[mpf(a) for a in line] for line in x]
    design = [[mpf(1)] * intercept + line for line in exact]
    dim = p + intercept
    total = sum(mpf(w) for w in own) if own else mpf(n)
    c = [mpf(w) * n / total for w in own] if own else [mpf(1)] * n
    penalty = [mpf(0)] * intercept + [ridge] * p
    beta = newton(design, y, c, penalty)
    _, hessian, rows = sums(design, y, c, beta)
    inv = hessian**-1
    damped = hessian.copy()
    for j in range(dim):
        damped[j, j] += penalty[j]
    damped = damped**-1
    deviance = -2 * sum(own * log(pi if label else 1 - pi) for (pi, _, _), label, own in zip(rows, y, c))
    shown = range(min(SHOWN, n))
    spread = [quadratic(design[i], inv) for i in shown]
    room = [1 - c[i] * rows[i][1] * spread[i] for i in shown]
    damped_room = [1 - c[i] * rows[i][1] * quadratic(design[i], damped) for i in shown]
    a = [n * rows[i][1] * spread[i] for i in shown]
    product = [n * spread[i] * rows[i][2] ** 2 for i in shown]
    out = {
        "name": name,
        "intercept": bool(intercept),
        "ridge": float(ridge),
        "x": x,
        "y": y,
        "weights": own,
        "coef": [text(b) for b in beta[intercept:]],
        "intercept_value": text(beta[0]) if intercept else None,
        "deviance": text(deviance),
        "prob": [text(rows[i][0]) for i in shown],
        "weight": [text(rows[i][1]) for i in shown],
        "dist_sq": [text(v) for v in a],
        "product": [text(v) for v in product],
        "left_out_dist_sq": [text((n - c[i]) * rows[i][1] * spread[i] / room[i]) for i in shown],
        "left_out_product": [
            text((n - c[i]) * spread[i] / room[i] * (rows[i][2] / damped_room[i]) ** 2) for i in shown
        ],
    }
    if sizes:
        q, m = sizes
        some = list(shown)[:5]
        out.update(q=q, m=m, gain=[text(gain(dim, q, m, a[i], product[i])) for i in some])
        if intercept and not own:
            stats, sigma2 = authors(exact, beta, rows, len(some))
            for side in ["lower", "upper"]:
                out["printed_" + side] = [text(printed(p, q, m, d, e, sigma2, side)) for d, e in stats]
            out["printed_lower_stopped"] = [
                text(printed(p, q, m, d, e, sigma2, "lower", mpf("0.005"))) for d, e in stats
            ]
    print(name, [nstr(b, 6) for b in beta], file=sys.stderr)
    return out


def main():
    cases = [
        case("one feature", 1, 24, 1, sizes=(6, 24)),
        case("three features", 2, 60, 3, sizes=(9, 40)),
        case("without intercept", 3, 60, 3, intercept=False, sizes=(8, 30)),
        case("far means and unlike units", 4, 60, 3, shift=[1e6, -3e4, 0.5], scale=[1e-2, 250.0, 1e-5]),
        case("ridge", 5, 80, 4, ridge=2.5, sizes=(12, 50)),
        case("ridge without intercept", 6, 40, 2, intercept=False, ridge=0.7),
        case("weights", 7, 50, 2, weights=True, sizes=(7, 30)),
        case("weights and ridge", 8, 50, 2, weights=True, ridge=1.5),
        case("separated, with ridge", 9, 40, 2, flip=-1, ridge=0.01),
        case("one row against", 10, 60, 2, flip=17),
        case("rare label", 11, 120, 2, coef=[1.2, -0.7], base=-3.0),
        case("strong effects", 12, 150, 3, coef=[4.0, -3.0, 2.0]),
    ]
    note = (
        "Logistic regression with an optional intercept (unpenalised), ridge (gamma/2)|beta|^2 on the summed"
        " log-loss, and row weights scaled to sum to n. dist_sq a = n W x'(X'WX)^-1 x, product a e^2 ="
        " n x'(X'WX)^-1 x (y-pi)^2; left_out_*: without the row, by one Newton step (the residual with the"
        " ridge in X'WX); gain: Theorem 2 on (a, a e^2, sigma2 = 1) over set sizes q-1..m-1; printed_*:"
        " Corollary 4 as printed on the authors' variables, full sums, and stopped at rho = 0.005. Lists are"
        " of the first rows."
    )
    json.dump({"note": note, "cases": cases}, sys.stdout, indent=None, separators=(",", ":"))
    print()


main()
