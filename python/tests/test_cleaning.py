"""`dshap.suspects`, `dshap.clean` and values on predictions of an estimator."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import dshap
from dshap import ClassificationValuer, InputError, InputTypeError


def labels(n=400, seed=0):
    """Three classes around three centres, and 5 % of the labels wrong."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[codes]
    wrong = np.zeros(n, bool)
    wrong[rng.permutation(n)[: n // 20]] = True
    given = np.where(wrong, (codes + rng.integers(1, 3, n)) % 3, codes)
    return X, np.array(["ash", "birch", "cedar"])[given], wrong, np.array(["ash", "birch", "cedar"])[codes]


def test_wrong_labels_are_found_and_the_right_ones_suggested():
    X, y, wrong, right = labels()
    found = dshap.suspects(X, y, estimator=None)
    assert list(found.weights) == ["model", "neighbours"] and abs(sum(found.weights.values()) - 1) < 1e-9
    assert wrong[found.ranking()[: wrong.sum()]].mean() > 0.8
    assert wrong[found.suspect].mean() > 0.6 and found.suspect[wrong].mean() > 0.8
    both = found.suspect & wrong
    assert (found.suggested[both] == right[both]).mean() > 0.9
    assert 0 < found.precision <= 1 and "rows flagged" in repr(found)
    assert list(found.to_pandas().columns) == ["score", "suspect", "suggested"]


def test_an_estimator_counts_and_its_predictions_may_be_given():
    X, y, _, _ = labels(150)
    found = dshap.suspects(X, y, estimator=RandomForestClassifier(20, random_state=0))
    assert list(found.weights) == ["model", "neighbours", "estimator"]
    oracle = np.full((150, 3), 0.01)
    oracle[np.arange(150), np.searchsorted(["ash", "birch", "cedar"], y)] = 0.98
    assert dshap.suspects(X, y, predictions=oracle).weights["estimator"] > 0.9
    with pytest.raises(InputError, match="expected \\(150, 3\\)"):
        dshap.suspects(X, y, predictions=oracle[:, :2])
    with pytest.raises(InputError, match="no probabilities"):
        dshap.suspects(X, y, predictions=-oracle)
    with pytest.raises(InputTypeError, match="predict_proba"):
        dshap.suspects(X, y, estimator=object())
    with pytest.raises(InputTypeError, match="expected a classifier"):
        dshap.suspects(X, y, estimator="forest")


def test_numbers_far_from_what_others_predict_are_dropped():
    X, y = dshap.datasets.gaussian_r(600, 3, seed=4)
    moved = np.arange(0, 600, 20)
    y[moved] += np.where(np.arange(len(moved)) % 2, 1, -1) * 12 * y.std()
    found = dshap.clean(X, y)
    assert found.recommended == "drop" and set(moved) <= set(found.rows[: len(moved) + 5]) | set(moved)
    assert set(found.rows[: len(moved)]) & set(moved)
    new_X, new_y = found.apply(X, y)
    assert len(new_X) == len(new_y) == 600 - len(found.rows)
    assert found.helps.any() and found.evidence.max() > found.evidence_needed
    assert "recommendation: drop the" in found.verdict and len(found.to_pandas()) == 5
    with pytest.raises(InputTypeError, match="labels only"):
        dshap.clean(X, y, predictions=np.zeros(600))


def test_results_depend_on_the_seed_only():
    X, y, _, _ = labels(120)
    one, other = dshap.clean(X, y, seed=3, n_jobs=1), dshap.clean(X, y, seed=3, n_jobs=2)
    assert (one.suspects.score == other.suspects.score).all() and (one.evidence == other.evidence).all()


def test_inputs_that_cannot_be_cleaned():
    X, y, _, _ = labels(60)
    with pytest.raises(InputError, match="one label"):
        dshap.suspects(X, np.zeros(60, bool))
    with pytest.raises(InputError, match="without a target"):
        dshap.suspects(X, None)
    with pytest.raises(InputError, match="`task` is 'density'"):
        dshap.clean(X, y, task="density")


@pytest.mark.filterwarnings("ignore::dshap.DshapWarning")
def test_values_on_predictions_of_an_estimator():
    X, y, wrong, _ = labels()
    model = LogisticRegression(C=1.0)
    valuer = ClassificationValuer(estimator=model).fit(X, y)
    assert valuer.coef_.shape == (3, 2)
    found = valuer.explain_training()
    detected = dshap.evaluate.noise_detection({"penalty": -found.penalty}, wrong)
    assert detected.auc[0] > 0.9
    assert valuer.value(X[:4], y[:4]).shape == (4,)
    assert np.array_equal(pickle.loads(pickle.dumps(valuer)).value(X[:4], y[:4]), valuer.value(X[:4], y[:4]))
    given = ClassificationValuer().fit(None, y, predictions=model.fit(X, y).predict_proba(X))
    assert given.value_training().shape == (400,)
    with pytest.raises(InputError, match="give an `estimator`"):
        given.value(X, y)


def test_the_largest_penalties():
    X, y = dshap.datasets.gaussian_r(100, 3, seed=1)
    found = dshap.RegressionValuer().fit(X, y).explain_training()
    assert found.bottom(3, by="penalty").row.tolist() == np.argsort(-found.penalty)[:3].tolist()
    with pytest.raises(InputError, match="expected 'value' or 'penalty'"):
        found.bottom(3, by="row")


def test_few_whole_numbers_without_a_task_are_a_warning():
    X, words, _, _ = labels(200)
    codes = np.unique(words, return_inverse=True)[1]
    with pytest.warns(dshap.DshapWarning, match=r"y has only 3 different values, .*`task='classification'`"):
        dshap.suspects(X, codes, estimator=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dshap.DshapWarning)
        as_labels = dshap.suspects(X, codes, task="classification", estimator=None)
        dshap.suspects(X, codes, task="regression")
        dshap.suspects(X, codes + 0.5, estimator=None)
        assert (as_labels.suspect == dshap.suspects(X, words, estimator=None).suspect).all()
