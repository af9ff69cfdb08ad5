"""Why a row is worth what it is worth."""

import pickle

import numpy as np
import pytest

import dshap
from dshap import ClassificationValuer, DensityValuer, RegressionValuer
from dshap.datasets import gaussian_r


@pytest.fixture
def rows():
    X, y = gaussian_r(200, 4, seed=3)
    y = y.copy()
    y[17] += 9
    return X, y


def test_a_row_of_the_reference_is_explained(rows):
    X, y = rows
    values = RegressionValuer().fit(X, y).explain_training()
    worst = int(values.bottom(1).row[0])
    assert worst == 17
    why = values.explain_row(worst)
    assert isinstance(why, dshap.Explanation)
    assert str(why).startswith("Row 17 has the value -") and "the lowest of 200" in str(why)
    target = why.facts["target"]
    assert target["predicted"] == pytest.approx(values.predicted[17])
    assert target["residual"] == pytest.approx(values.residual[17])
    assert np.allclose(values.residual**2, values.resid_sq)
    total = sum(feature["contribution"] for feature in why.facts["features"])
    assert total == pytest.approx(values.dist_sq[17])
    assert why.facts["value_if_predicted"] == pytest.approx(values.potential[17])
    # A selection knows the numbers of its rows.
    assert values.bottom(3).explain_row(worst).facts == why.facts


def test_new_rows_and_other_tasks_are_explained(rows):
    X, y = rows
    valuer = RegressionValuer().fit(X, y)
    values = valuer.explain(X[:5] + 1, y[:5])
    assert values.explain_row(3).facts["row"] == 3
    assert values.explain_row(3).facts["value"] == values.value[3]
    labels = np.where(y > y.mean(), "high", "low")
    explained = ClassificationValuer().fit(X, labels).explain_training()
    facts = explained.explain_row(17).facts
    assert facts["target"]["given"] == "high"
    assert facts["target"]["given_probability"] == pytest.approx(explained.label_prob[17])
    assert "target" in ClassificationValuer("knn").fit(X, labels).explain_training().explain_row(0).facts
    assert DensityValuer().fit(X).explain_training().explain_row(0).facts["target"] is None


def test_rows_that_are_not_there(rows):
    X, y = rows
    values = RegressionValuer().fit(X, y).explain_training()
    with pytest.raises(dshap.InputError, match="there is no row 200"):
        values.explain_row(200)
    loaded = pickle.loads(pickle.dumps(values))
    assert np.array_equal(loaded.value, values.value)
    with pytest.raises(dshap.DshapError, match="no longer know their rows"):
        loaded.explain_row(0)
