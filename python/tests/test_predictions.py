"""Rows valued for any estimator: a model of its predictions from folds without the row."""

import pickle

import numpy as np
import pytest
from conftest import assert_same_bits
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeRegressor

import dshap
from dshap import InputError, RegressionValuer


@pytest.fixture
def waves():
    """A target that no plane predicts, with thirty wrong cells."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-3, 3, (600, 3))
    y = np.sin(2 * X[:, 0]) * X[:, 1] ** 2 + 0.2 * rng.normal(size=600)
    wrong = rng.choice(600, 30, replace=False)
    y[wrong] += rng.choice([-3.0, 3.0], 30)
    return X, y, np.isin(np.arange(600), wrong)


def test_values_are_those_of_a_line_through_predictions_of_folds(waves):
    X, y, _ = waves
    tree = DecisionTreeRegressor(max_depth=5, random_state=0)
    folds = KFold(5, shuffle=True, random_state=3)
    predicted = cross_val_predict(tree, X, y, cv=folds)
    expected = RegressionValuer().fit(predicted[:, None], y)
    valuer = RegressionValuer(estimator=tree, seed=3).fit(X, y)
    assert_same_bits(valuer.value_training(), expected.value_training())
    given = RegressionValuer().fit(None, y, predictions=predicted)
    assert_same_bits(given.value_training(), expected.value_training())
    assert valuer.p_ == 1 and valuer.coef_[0] == expected.coef_[0]
    new_X, new_y = X[:7] + 0.1, y[:7]
    seen = clone(tree).fit(X, y).predict(new_X)[:, None]
    assert_same_bits(valuer.value(new_X, new_y), expected.value(seen, new_y))
    assert_same_bits(valuer.explain(new_X, new_y).penalty, expected.explain(seen, new_y).penalty)
    assert_same_bits(valuer.standard_errors(new_X, new_y), expected.standard_errors(seen, new_y))
    again = pickle.loads(pickle.dumps(valuer))
    assert_same_bits(again.value(new_X, new_y), valuer.value(new_X, new_y))


def test_it_helps_where_no_plane_predicts(waves):
    X, y, is_wrong = waves
    forest = RandomForestRegressor(40, random_state=0)
    fits = {
        "line": RegressionValuer().fit(X, y).explain_training(),
        "forest": RegressionValuer(estimator=RandomForestRegressor(40, random_state=0)).fit(X, y).explain_training(),
        "boosting": RegressionValuer(estimator="boosting").fit(X, y).explain_training(),
    }
    value = dict(zip(fits, dshap.evaluate.noise_detection(fits, is_wrong).auc))
    penalties = {name: -found.penalty for name, found in fits.items()}
    penalty = dict(zip(fits, dshap.evaluate.noise_detection(penalties, is_wrong).auc))
    assert max(value["line"], penalty["line"]) < 0.76
    assert min(value["forest"], value["boosting"]) > 0.85 and min(penalty["forest"], penalty["boosting"]) > 0.78


def test_where_a_plane_predicts_it_does_not(waves):
    X, y = dshap.datasets.gaussian_r(400, 5, seed=2)
    wrong, is_wrong = dshap.evaluate.corrupt(y, 0.1, task="regression", seed=1)
    values = {
        "line": -RegressionValuer().fit(X, wrong).explain_training().penalty,
        "forest": -RegressionValuer(estimator=RandomForestRegressor(40, random_state=0)).fit(X, wrong).explain_training().penalty,
    }
    line, of_forest, _ = dshap.evaluate.noise_detection(values, is_wrong).auc
    assert line > of_forest


def test_frames_are_handed_to_the_estimator_as_they_are(mixed):
    frame, price = mixed
    frame = frame.dropna()[["area", "floor"]]
    price = price[frame.index]
    valuer = RegressionValuer(estimator=LinearRegression()).fit(frame, price)
    assert list(valuer.estimator_.feature_names_in_) == ["area", "floor"]
    assert len(valuer.value(frame[:5], price[:5])) == 5


@pytest.mark.parametrize("estimator, words", [
    (RandomForestClassifier(), "expected a regressor"),
    ("forest", "expected a regressor, 'boosting' or None"),
    (3, "expected a regressor"),
])  # fmt: skip
def test_other_estimators_are_refused(waves, estimator, words):
    X, y, _ = waves
    with pytest.raises(InputError, match=words):
        RegressionValuer(estimator=estimator).fit(X, y)


def test_what_does_not_go_with_predictions(waves):
    X, y, _ = waves
    estimator = LinearRegression()
    valuer = RegressionValuer(estimator=estimator).fit(X, y)
    assert not hasattr(valuer, "partial_fit")
    with pytest.raises(InputError, match="cannot be merged"):
        valuer.merge(RegressionValuer(estimator=estimator).fit(X, y))
    with pytest.raises(InputError, match="`test` and `population` do not go"):
        RegressionValuer(estimator=estimator).fit(X, y, test=(X, y))
    with pytest.raises(InputError, match="missing or not finite"):
        RegressionValuer(estimator=estimator).fit(X, np.where(np.arange(600) == 3, np.nan, y))
    with pytest.raises(InputError, match=r"shape \(600, 2\); expected \(600,\)"):
        RegressionValuer().fit(X, y, predictions=X[:, :2])
    with pytest.raises(InputError, match="not finite"):
        RegressionValuer().fit(X, y, predictions=np.full(600, np.nan))
    with pytest.raises(InputError, match="give an `estimator` to value other rows"):
        RegressionValuer().fit(X, y, predictions=X[:, 0]).value(X, y)
