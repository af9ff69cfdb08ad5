"""Values for the data one predicts, rows without targets, and the closed forms behind them."""

import numpy as np
import pandas as pd
import pytest
from conftest import assert_same_bits, column

from dshap import ClassificationValuer, DshapError, InputError, RegressionValuer
from dshap.formula import regression


@pytest.fixture
def rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=120)
    X_test = 0.5 * rng.normal(size=(30, 3)) + [1.0, 0.0, -1.0]
    return X, y, X_test, X_test @ [1.2, -2.0, 0.0] + rng.normal(size=30)


def test_values_are_for_the_test_rows(rows, tmp_path):
    X, y, X_test, y_test = rows
    plain = RegressionValuer().fit(X, y)
    tests = RegressionValuer().fit(X, y, test=(X_test, y_test))
    population = RegressionValuer().fit(X, y, population=X_test)
    values = [valuer.value_training() for valuer in (plain, tests, population)]
    assert not np.allclose(values[0], values[1]) and not np.allclose(values[1], values[2])
    assert (tests.standard_errors(X, y) > 0).all()
    # Saved and loaded, and merged with itself.
    tests.save(tmp_path / "v.dshap")
    assert_same_bits(RegressionValuer.load(tmp_path / "v.dshap").value(X, y), tests.value(X, y))
    halves = [RegressionValuer(m=100).fit(X[i::2], y[i::2], test=(X_test, y_test)) for i in (0, 1)]
    whole = RegressionValuer(m=100).fit(X, y, test=(X_test, y_test))
    np.testing.assert_allclose(halves[0].merge(halves[1]).value(X, y), whole.value(X, y), rtol=1e-9)


def test_the_same_bits_as_the_command_line(rows, tmp_path, values_by_command):
    X, y, X_test, y_test = rows
    for name, (features, target) in {"train": (X, y), "test": (X_test, y_test)}.items():
        pd.DataFrame(features, columns=list("abc")).assign(y=target).to_csv(tmp_path / f"{name}.csv", index=False)
    out = values_by_command(tmp_path / "train.csv", "--target", "y", "--test", tmp_path / "test.csv")
    frame = pd.read_csv(tmp_path / "train.csv")
    tests = pd.read_csv(tmp_path / "test.csv")
    valuer = RegressionValuer().fit(frame[list("abc")], frame.y, test=(tests[list("abc")], tests.y))
    assert_same_bits(valuer.value_training(), column(out, "value"))


def test_cases_add_up_to_the_test_rows(rows):
    X, y, X_test, y_test = rows
    valuer = RegressionValuer().fit(X, y)
    taught = valuer.teach(X_test[:5], y_test[:5])
    assert taught.shape == (5, 120)
    together = RegressionValuer().fit(X, y, test=(X_test[:5], y_test[:5])).value_training()
    np.testing.assert_allclose(taught.mean(axis=0), together, rtol=1e-8, atol=1e-12)
    assert valuer.teach(X_test[:2]).shape == (2, 120)
    with pytest.raises(DshapError, match="keep_training"):
        RegressionValuer(keep_training=False).fit(X, y).teach(X_test)


def test_labels_are_valued_for_test_rows(rows):
    X, y, X_test, y_test = rows
    labels, test_labels = np.where(y > 0, "up", "down"), np.where(y_test > 0, "up", "down")
    plain = ClassificationValuer().fit(X, labels).value_training()
    tests = ClassificationValuer().fit(X, labels, test=(X_test, test_labels)).value_training()
    population = ClassificationValuer().fit(X, labels, population=X_test).value_training()
    assert not np.allclose(plain, tests) and not np.allclose(tests, population)


def test_rows_without_targets_have_expected_values(rows):
    X, y, X_new, _ = rows
    valuer = RegressionValuer(q=20, m=100).fit(X, y)
    expected = valuer.explain(X_new)
    # Two targets, one deviation of the noise above the prediction and one below.
    slope, residuals = np.linalg.lstsq(np.c_[np.ones(120), X], y, rcond=None)[:2]
    noise = np.sqrt(residuals[0] / (120 - 4))
    predicted = np.c_[np.ones(30), X_new] @ slope
    both = [valuer.value(X_new, predicted + sign * noise) for sign in (1, -1)]
    np.testing.assert_allclose(expected.value, np.mean(both, axis=0), rtol=1e-8)
    np.testing.assert_array_equal(valuer.value(X_new), expected.value)
    np.testing.assert_allclose(expected.potential, valuer.value(X_new, predicted), rtol=1e-8)
    with pytest.raises(InputError, match="y"):
        RegressionValuer("knn").fit(X, y).value(X_new)


def test_what_does_not_go_together_is_refused(rows):
    X, y, X_test, y_test = rows
    with pytest.raises(InputError, match="not of both"):
        RegressionValuer().fit(X, y, test=(X_test, y_test), population=X_test)
    with pytest.raises(DshapError, match="means of the reference"):
        RegressionValuer(refit_intercept=True).fit(X, y, test=(X_test, y_test))
    with pytest.raises(InputError, match="features"):
        RegressionValuer().fit(X, y, population=X_test[:, :2])


def test_the_formulas_take_test_rows_and_refitted_intercepts():
    plain = regression(3, 13, 40, 2.0, 1.0, 1.0)
    like = regression(3, 13, 40, 2.0, 1.0, 1.0, b=2.0, tau=3.0, c=0.0)
    np.testing.assert_allclose(like.gain, plain.gain, rtol=1e-12)
    assert np.isnan(like.simple)
    assert regression(3, 13, 40, 2.0, 1.0, 1.0, c=[0.1, np.nan]).gain[1] == plain.gain
    refitted = regression(2, 11, 23, 5.8, 3.67, 0.98, intercept="refitted")
    np.testing.assert_allclose(refitted.gain, -0.01108788892368388741119, rtol=1e-10)
    with pytest.raises(InputError, match="neither known nor refitted"):
        regression(3, 13, 40, 2.0, 1.0, 1.0, intercept="none")
