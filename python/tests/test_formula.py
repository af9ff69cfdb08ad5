"""The closed forms against tables from other programs."""

import io

import numpy as np
import pandas as pd
import pytest
from conftest import assert_same_bits, reference

import dshap
from dshap import DensityValuer, InputError, InputTypeError
from dshap.formula import bounds, density, regression, synergy


def test_regression_against_the_reference_table():
    cases = pd.DataFrame(reference("regression"))
    forms = regression(cases["p"], cases["q"], cases["m"], cases["d2"], cases["e2"], cases["sigma2"])
    for form, name in [("gain", "marginal_definition"), ("simple", "simple_definition"), ("printed", "simple_printed")]:
        expected = pd.to_numeric(cases[name], errors="coerce").to_numpy(dtype=float)
        found = getattr(forms, form)
        known = ~np.isnan(expected) & ~np.isnan(found)
        assert known.sum() > 0.8 * len(cases)
        np.testing.assert_allclose(found[known], expected[known], rtol=1e-11)


def test_the_command_line_says_the_same(command, tmp_path):
    rng = np.random.default_rng(4)
    p = rng.integers(1, 12, 50)
    q = p + rng.integers(3, 30, 50)
    m = q + rng.integers(0, 2000, 50)
    d2, e2, sigma2, C_lin = rng.gamma(2.0, 4.0, (4, 50))
    path = tmp_path / "cases.csv"
    pd.DataFrame(dict(p=p, q=q, m=m, d2=d2, e2=e2, sigma2=sigma2, C_lin=C_lin)).to_csv(path, index=False)
    expected = pd.read_csv(io.StringIO(command("formula", "regression", "--cases", path, "--format", "csv").stdout))
    forms = regression(p, q, m, d2, e2, sigma2, C_lin)
    for name in forms._fields:
        assert_same_bits(getattr(forms, name), expected[name])


def test_bounds_against_the_reference_table():
    cases = reference("bounds")
    letters = {"lambda_min": "lambda_min_SigmaInv", "lambda_max": "lambda_max_SigmaInv"}
    names = ["p", "q", "m", "d2", "e2", "sigma2", "gamma", "lambda_min", "lambda_max", "c", "C"]
    found = bounds(**{name: [float(case[letters.get(name, name)]) for case in cases] for name in names})
    columns = {
        "lower": ("valid_joint", "lower"),
        "upper": ("valid_joint", "upper"),
        "authors_lower": ("authors", "lower"),
        "authors_upper": ("authors", "upper"),
    }
    n_compared = 0
    for form, (table, side) in columns.items():
        known = [i for i, case in enumerate(cases) if side in case.get(table, {})]
        expected = [float(cases[i][table][side]) for i in known]
        n_compared += len(known)
        # As in the tests of core: terms have both signs, so the sum may be much smaller than they are.
        np.testing.assert_allclose(getattr(found, form)[known], expected, rtol=1e-10)
    assert n_compared >= 50


def test_bounds_to_the_letter_and_of_the_authors():
    found = bounds(p=10, q=80, m=1000, d2=12, e2=2, sigma2=1, c=1, C=1)
    assert round(float(found.printed_upper), 6) == 0.003493
    assert round(float(found.authors_upper), 6) == 0.006385


def test_bounds_enclose_the_value():
    e2 = np.linspace(0, 9, 10)[:, None]
    d2 = np.array([0.5, 3.0, 8.0])
    case = dict(p=3, q=400, m=1000, d2=d2, e2=e2, sigma2=1.0)
    found = bounds(**case)
    assert found.lower.shape == (10, 3)
    gain = regression(**case).gain
    assert np.all(found.lower < gain) and np.all(gain < found.upper)


def test_arguments_broadcast():
    whole = regression(5, 20, 500, np.arange(12.0).reshape(3, 4), 1.0, [[0.5], [1.0], [2.0]])
    assert whole.gain.shape == (3, 4)
    one = regression(5, 20, 500, 6.0, 1.0, 1.0)
    assert one.gain.shape == () and one.gain == whole.gain[1, 2]
    assert np.isnan(one.full) and np.isnan(regression(5, 7, 500, 6.0, 1.0, 1.0).gain)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"q": 600}, "m = 500 is less than q = 600"), ({"p": 1.5}, "p = 1.5 is not a whole number"), ({"d2": -1}, "d2 = -1")],
)
def test_numbers_that_make_no_sense(change, words):
    with pytest.raises(InputError, match=words):
        regression(**{**dict(p=5, q=20, m=500, d2=1.0, e2=1.0, sigma2=1.0), **change})
    with pytest.raises(InputError, match="case 1: e2 = -1"):
        regression(5, 20, 500, 1.0, [1.0, -1.0], 1.0)
    with pytest.raises(InputError, match="not numbers of one shape"):
        regression(5, 20, 500, [1.0, 2.0], [1.0, 2.0, 3.0], 1.0)
    with pytest.raises(InputError, match="not numbers of one shape"):
        regression("x", 20, 500, 1.0, 1.0, 1.0)
    with pytest.raises(InputError, match="`n_jobs` is 'x'"):
        regression(5, 20, 500, 1.0, 1.0, 1.0, n_jobs="x")


def test_classification_gives_the_values_of_rows():
    X, y = dshap.datasets.gaussian_c(300, seed=2)
    valuer = dshap.ClassificationValuer(q=20, m=200).fit(X, y)
    found = valuer.explain(X, y)
    forms = dshap.formula.classification(4, 20, 200, found.dist_sq, found.prob, y)
    np.testing.assert_allclose(forms.gain, found.value, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(forms.potential, found.potential, rtol=1e-11)
    np.testing.assert_allclose(forms.penalty, found.penalty, rtol=1e-9)
    with pytest.raises(dshap.InputError, match="prob = 1 is not a probability"):
        dshap.formula.classification(4, 20, 200, 3.0, 1.0, 1)


@pytest.mark.parametrize("kernel", ["gaussian", "uniform", "epanechnikov", "triangular"])
def test_densities_by_the_command_line(kernel, command, tmp_path):
    rng = np.random.default_rng(6)
    rows, points = rng.normal(size=(80, 2)), rng.normal(size=(150, 2))
    files = tmp_path / "r.csv", tmp_path / "p.csv"
    for cells, path in zip((rows, points), files):
        pd.DataFrame(cells, columns=["a", "b"]).to_csv(path, index=False, float_format="%.17g")
    words = ["--reference", files[0], "--points", files[1], "--bandwidth", 0.7, "--m", 40, "--kernel", kernel]

    def by_command(*more):
        out = tmp_path / "out.parquet"
        command("formula", "density", *words, *more, "-o", out)
        return pd.read_parquet(out)["value"]

    assert_same_bits(density(rows, points, 0.7, 40, kernel), by_command())
    assert_same_bits([density(rows, points, 0.7, 40, kernel, as_set=True)], by_command("--as-set"))
    assert density(rows, points[:1], 0.7, 40, kernel, as_set=True) == density(rows, points[:1], 0.7, 40, kernel)[0]
    valuer = DensityValuer(kernel=kernel, bandwidth=0.7, m=40, scale="none").fit(rows)
    # The valuer may leave out less than 1e-12 of a sum, and adds in another order.
    np.testing.assert_allclose(density(rows, points, 0.7, 40, kernel), valuer.value(points), rtol=1e-10, atol=1e-13)


def test_synergy_by_the_command_line(command, tmp_path):
    out = tmp_path / "out.parquet"
    n_with, n_without = 0, 0
    for h, m, c_den in [(0.1, 100, 0.2), (0.1, 100, 1.0), (0.3, 10, 0.05), (0.5, 2, 3.0), (0.05, 1000, 0.0)]:
        for border in (False, True):
            words = ["--h", h, "--m", m, "--c-den", c_den, *["--border"] * border]
            command("formula", "synergy", *words, "-o", out)
            expected, found = pd.read_parquet(out), synergy(h, m, c_den, border=border)
            assert_same_bits([found.threshold], expected["threshold"].astype(float))
            assert_same_bits([found.probability], expected["probability"])
            assert_same_bits([found.printed], expected["printed"])
            n_with, n_without = n_with + (found.probability > 0), n_without + (found.probability == 0)
    assert n_with > 0 and n_without > 0
    assert synergy([0.1, 0.2], 100, [[0.1], [0.2], [0.3]]).probability.shape == (3, 2)
    assert round(float(synergy(0.35, 100, 0.2).printed), 3) == 0.873


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: density([[0.0]], [[0.0, 1.0]], 0.5, 10), InputError, "points has 2 columns, but reference has 1"),
        (lambda: density([[0.0]], [0.0], 0.5, 10), InputError, "points should have rows and columns"),
        (lambda: density([[0.0]], [[np.nan]], 0.5, 10), InputError, r"points\[0, 0\] is nan"),
        (lambda: density([["a"]], [[0.0]], 0.5, 10), InputError, "reference holds something that is not a number"),
        (lambda: density([[0.0]], [[0.0]], -1.0, 10), InputError, "from 1e-30 to 1e30, got -1"),
        (lambda: density([[0.0]], [[0.0]], "wide", 10), InputTypeError, "`bandwidth` is 'wide'"),
        (lambda: density([[0.0]], [[0.0]], 0.5, 10, "box"), InputError, "`kernel` is 'box'; expected 'gaussian', 'uniform', 'epanechnikov' or"),
        (lambda: density([[0.0]], [[0.0]], 0.5, 10, 3), InputTypeError, "`kernel` is 3"),
        (lambda: density([[0.0]], [[0.0]], 0.5, 0), InputError, "`m` is 0"),
        (lambda: density([[0.0]], [[0.0]], 0.5, 10, as_set="yes"), InputTypeError, "`as_set` is 'yes'"),
        (lambda: synergy(0.1, 2.5, 0.2), InputError, "m is 2.5; expected a whole number"),
        (lambda: synergy([0.1, 0.7], 10, 0.2), InputError, "case 1: "),
    ],
)
def test_numbers_that_make_no_sense_for_densities(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_semivalues_change_the_gain():
    plain = regression(3, 13, 40, 2.0, 1.0, 1.0)
    beta = regression(3, 13, 40, 2.0, 1.0, 1.0, semivalue="beta:1,1")
    np.testing.assert_allclose(beta.gain, plain.gain, rtol=1e-11)
    # All weight on one size: that size alone, which counts one in m.
    at_m = regression(3, 13, 40, 2.0, 1.0, 1.0, semivalue="at-m")
    np.testing.assert_allclose(at_m.gain, 40 * regression(3, 40, 40, 2.0, 1.0, 1.0).gain, rtol=1e-11)
    assert np.isnan(at_m.simple)
    with pytest.raises(InputError, match="beta:A,B"):
        regression(3, 13, 40, 2.0, 1.0, 1.0, semivalue="beta")


def test_valuers_take_a_semivalue():
    rng = np.random.default_rng(24)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    values = {law: dshap.RegressionValuer(semivalue=law).fit(X, y).value(X, y) for law in ("shapley", "beta:1,1", "banzhaf")}
    np.testing.assert_allclose(values["beta:1,1"], values["shapley"], rtol=1e-10, atol=1e-15)
    assert not np.allclose(values["banzhaf"], values["shapley"])
    densities = [DensityValuer(semivalue=law, bandwidth=1.0).fit(X).value(X) for law in ("shapley", "at-m")]
    assert not np.allclose(*densities)


def test_sets_keep_their_targets_where_they_are_asked_to():
    rng = np.random.default_rng(25)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=60)
    drawn = {targets: dshap.RegressionValuer("general", targets=targets, samples=64).fit(X, y) for targets in ("expected", "observed")}
    values = {targets: valuer.value(X, y) for targets, valuer in drawn.items()}
    plain = dshap.RegressionValuer("general", samples=64).fit(X, y).value(X, y)
    np.testing.assert_array_equal(values["expected"], plain)
    assert not np.allclose(values["observed"], plain)
    with pytest.raises(ValueError, match="targets"):
        dshap.RegressionValuer("gaussian", targets="observed").fit(X, y)
    with pytest.raises(ValueError, match="targets"):
        dshap.RegressionValuer("general", targets="seen").fit(X, y)
