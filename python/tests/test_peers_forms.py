"""Forms that users of other packages know, and edges of scikit-learn, without those packages."""

import copy

import numpy as np
import pandas as pd
import pytest
from conftest import assert_same_bits
from sklearn.ensemble import BaggingClassifier, BaggingRegressor, ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import dshap
from dshap import ClassificationValuer, DensityValuer, InputError, RegressionValuer, baselines, evaluate


@pytest.fixture(scope="module")
def words():
    X, y = dshap.datasets.gaussian_c(250, seed=4)
    return X, np.where(y == 1, "yes", "no")


def direct_oob(model, X, y, score):
    """One row and one model at a time."""
    values = []
    for row in range(len(y)):
        scores = []
        for one, seen, features in zip(
            model.estimators_, model.estimators_samples_, getattr(model, "estimators_features_", [range(X.shape[1])] * 99)
        ):
            if row not in set(seen.tolist()):
                scores.append(score(one.predict(X[row : row + 1][:, list(features)])[0], y[row]))
        values.append(np.mean(scores) if scores else np.nan)
    return np.array(values)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(12, max_depth=3, random_state=1),
        BaggingClassifier(KNeighborsClassifier(3), 12, max_features=2, random_state=1),
        BaggingClassifier(LogisticRegression(), 12, max_samples=0.5, bootstrap=False, random_state=1),
    ],
    ids=["forest", "neighbours", "without replacement"],
)
def test_data_oob_of_labels_is_the_direct_computation(model, words):
    X, y = words
    X, y = X[:60], y[:60]
    model = copy.deepcopy(model).fit(X, y)
    found = baselines.data_oob(model, X, y)
    direct = direct_oob(model, X, y, lambda label, true: float(model.classes_[int(label)] == true))
    np.testing.assert_allclose(found.value, direct, rtol=1e-12)
    assert 0.5 < np.nanmean(found.value) < 1


@pytest.mark.parametrize("kind", [RandomForestRegressor, BaggingRegressor])
def test_data_oob_of_numbers_is_the_direct_computation(kind):
    X, y = dshap.datasets.gaussian_r(60, 3, seed=2)
    model = kind(n_estimators=12, random_state=1).fit(X, y)
    direct = direct_oob(model, X, y, lambda predicted, true: -((predicted - true) ** 2))
    np.testing.assert_allclose(baselines.data_oob(model, X, y).value, direct, rtol=1e-10)


def test_data_oob_agrees_with_the_forests_own_score(words):
    X, y = words
    forest = RandomForestClassifier(300, oob_score=True, random_state=1).fit(X, y)
    found = baselines.data_oob(forest, pd.DataFrame(X).to_numpy(), y)
    # The forest's vote is right where most of its trees are, but for near ties.
    clear = abs(found.value - 0.5) > 0.1
    voted = forest.classes_[forest.oob_decision_function_.argmax(axis=1)] == y
    assert ((found.value > 0.5) == voted)[clear].all() and clear.mean() > 0.7


def test_data_oob_without_out_of_bag_rows(words):
    X, y = words
    few = RandomForestClassifier(1, random_state=0).fit(X, y)
    found = baselines.data_oob(few, X, y)
    seen = np.zeros(len(y), dtype=bool)
    seen[few.estimators_samples_[0]] = True
    assert np.isnan(found.value[seen]).all() and (found.note[seen] == "never out of bag").all()
    assert np.isfinite(found.value[~seen]).all()
    with pytest.raises(InputError, match="bootstrap=True"):
        baselines.data_oob(ExtraTreesClassifier(5).fit(X, y), X, y)
    with pytest.raises(InputError, match="a LogisticRegression has no out-of-bag rows"):
        baselines.data_oob(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(InputError, match="fitted to 250"):
        baselines.data_oob(few, X[:99], y[:99])


def test_data_oob_finds_wrong_labels(words):
    X, y = words
    wrong_y, is_wrong = evaluate.corrupt(y, 0.1, seed=3)
    forest = RandomForestClassifier(100, random_state=1).fit(X, wrong_y)
    assert evaluate.noise_detection({"oob": baselines.data_oob(forest, X, wrong_y)}, is_wrong).auc[0] > 0.7


def test_label_issues_in_the_three_forms_of_cleanlab(words):
    X = words[0]
    y = np.where(X.sum(axis=1) > 0, "yes", "no")
    wrong_y, is_wrong = evaluate.corrupt(y, 0.08, seed=3)
    frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(250) + 1000)
    mask = dshap.find_label_issues(frame, wrong_y, estimator=None)
    ranked = dshap.find_label_issues(frame, wrong_y, estimator=None, output="ranked")
    issues = dshap.find_label_issues(frame, wrong_y, estimator=None, output="frame")
    assert mask.dtype == bool and 0 < mask.sum() < 60 and is_wrong[mask].mean() > 0.6
    assert set(ranked) == set(np.flatnonzero(mask))
    assert issues.columns.tolist() == ["is_label_issue", "label_quality", "given_label", "predicted_label"]
    assert issues.index[0] == 1000 and issues["given_label"].tolist() == wrong_y.tolist()
    assert np.all(np.diff(issues["label_quality"].to_numpy()[ranked]) >= 0)
    with pytest.raises(InputError, match="`output` is 'list'"):
        dshap.find_label_issues(X, wrong_y, output="list")


def test_label_issues_from_given_probabilities(words):
    X, y = words
    wrong_y, _ = evaluate.corrupt(y, 0.08, seed=3)
    truth = np.column_stack([y == "no", y == "yes"]) * 0.98 + 0.01
    ranked = dshap.find_label_issues(X, wrong_y, truth, output="ranked")
    assert np.mean(wrong_y[ranked] != y[ranked]) > 0.9


@pytest.mark.parametrize("kind", [RegressionValuer, ClassificationValuer, DensityValuer])
def test_deep_copies_keep_the_fitted_rows(kind):
    X, y = dshap.datasets.gaussian_c(100, seed=1)
    valuer = kind().fit(X, y)
    twin = copy.deepcopy(valuer)
    assert_same_bits(twin.value_training(), valuer.value_training())
    twin.set_params(m=50).fit(X[:60], y[:60])
    assert (len(twin.value_training()), len(valuer.value_training()), valuer.m) == (60, 100, None)


@pytest.mark.parametrize(
    "cells", [["a", "b"] * 20, [True, False] * 20, [3, 5] * 20, np.arange(40) / 7], ids=["text", "booleans", "whole", "numbers"]
)
def test_corrupted_series_keep_their_index_name_and_type(cells):
    y = pd.Series(cells, index=[f"r{i}" for i in range(40)], name="label")
    changed, is_wrong = evaluate.corrupt(y, 0.2, seed=1)
    assert changed.index.equals(y.index) and changed.name == "label" and changed.dtype == y.dtype
    assert ((changed != y).to_numpy() == is_wrong).all() and is_wrong.sum() == 8
    category, _ = evaluate.corrupt(pd.Series(["a", "b"] * 20, dtype="category"), 0.2, seed=1)
    assert category.dtype == "category"


def test_tables_for_notebooks():
    rng = np.random.default_rng(0)
    one, other = rng.random(40), rng.random(40)
    found = evaluate.noise_detection({"a <b>": one}, other < 0.3)
    page = found._repr_html_()
    assert "<svg" in page and f"<td>{found.auc[0]:.4f}</td>" in page and "a &lt;b&gt;" in page.split("</svg>")[1]
    agreement = evaluate.compare({"one": one, "other": other, "same": np.ones(40)})
    page = agreement._repr_html_()
    assert f"<td>{agreement.spearman[0]:.4f}</td>" in page and "<th>one and other</th>" in page and "<td>–</td>" in page
