"""A scikit-learn estimator in every respect that applies."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import assert_same_bits
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dshap import DshapError, DshapWarning, FileError, InputError, RegressionValuer


def does_not_apply(estimator):
    """Checks of scikit-learn that cannot hold, and why."""
    exact = "the data of the check have no noise, against which rows could be valued; that is an error"
    reasons = {
        "check_sample_weight_equivalence_on_dense_data": (
            "a weight is a share in the reference, not a number of copies: three copies of a row tell more about "
            "the noise than one row of weight 3, as with any survey weights"
        ),
        "check_sample_weights_shape": exact,
        "check_sample_weights_not_overwritten": exact,
    }
    if estimator.method == "general":
        no_weights = "sets are drawn from the rows, which know no weights; that is an error"
        weighted = ("pandas_series", "not_an_array", "list", "shape", "not_overwritten")
        reasons |= {f"check_sample_weights_{kind}": no_weights for kind in weighted}
    return reasons


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        RegressionValuer(),
        RegressionValuer("calibrated"),
        RegressionValuer("general", samples=8),
        RegressionValuer(missing="mean"),
        RegressionValuer("lower", q=5),
    ],
    expected_failed_checks=does_not_apply,
)
def test_what_scikit_learn_asks_of_estimators(estimator, check):
    check(estimator)


def test_what_was_learned_is_least_squares(rows):
    X, y = rows
    valuer = RegressionValuer().fit(X, y)
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(valuer.coef_, model.coef_, rtol=1e-10)
    assert valuer.intercept_ == pytest.approx(model.intercept_, rel=1e-10)
    residuals = y - model.predict(X)
    assert valuer.noise_var_ == pytest.approx(residuals @ residuals / (700 - 5), rel=1e-10)
    assert valuer.r_squared_ == pytest.approx(model.score(X, y), rel=1e-10)
    assert (valuer.n_rows_, valuer.p_, valuer.q_, valuer.m_, valuer.n_features_in_) == (700, 4, 14, 700, 4)


def test_dropped_columns_are_named_and_warned_of(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd")).assign(twice=2 * X[:, 0])
    with pytest.warns(DshapWarning, match="`twice` was dropped"):
        valuer = RegressionValuer().fit(frame, y)
    assert valuer.dropped_ == ["twice"] and valuer.coef_[4] == 0 and len(valuer.warnings_) == 1
    with pytest.raises(InputError, match="`twice`"):
        RegressionValuer(dependent="error").fit(frame, y)


def test_clones_are_not_fitted(rows):
    valuer = RegressionValuer("lower", m=400, q=200, bound_c=0.7).fit(*rows)
    twin = clone(valuer)
    assert twin.get_params() == valuer.get_params()
    with pytest.raises(NotFittedError):
        twin.value(*rows)


def test_in_a_pipeline(rows):
    X, y = rows
    pipeline = make_pipeline(StandardScaler(), RegressionValuer()).fit(X, y)
    scaled = pipeline[:-1].transform(X)
    assert_same_bits(pipeline[-1].value(scaled, y), RegressionValuer().fit(scaled, y).value(scaled, y))
    # Values do not depend on the units of the features.
    np.testing.assert_allclose(pipeline[-1].value_training(), RegressionValuer().fit(X, y).value_training(), rtol=1e-7)
    pipeline.set_params(regressionvaluer__m=300).fit(X, y)
    assert pipeline[-1].m_ == 300


def test_other_set_sizes_without_fitting_again(rows):
    X, y = rows
    valuer = RegressionValuer().fit(X, y)
    for m in (50, 300, 100_000):
        assert_same_bits(valuer.value(X, y, m=m), RegressionValuer(m=m).fit(X, y).value(X, y))
    assert_same_bits(valuer.value(X, y, q=9), RegressionValuer(q=9).fit(X, y).value(X, y))
    with pytest.raises(InputError, match="q = 2"):
        valuer.value(X, y, q=2)


@pytest.mark.parametrize("method", ["gaussian", "calibrated", "general", "upper", "algorithm-3"])
@pytest.mark.filterwarnings("ignore::dshap.DshapWarning")
def test_pickles_give_the_same_bits(method, rows):
    X, y = rows
    quick = {"samples": 8} if method in ("general", "algorithm-3") else {}
    valuer = RegressionValuer(method, m=100, q=60 if method == "upper" else 20, **quick).fit(X, y)
    twin = pickle.loads(pickle.dumps(valuer))
    assert_same_bits(twin.value(X[:50], y[:50]), valuer.value(X[:50], y[:50]))
    assert twin.get_params() == valuer.get_params()
    assert_same_bits(twin.coef_, valuer.coef_)
    assert pickle.loads(pickle.dumps(RegressionValuer(method))).get_params()["method"] == method
    if method != "general":
        assert len(pickle.dumps(valuer)) < 20_000, "no rows are in it"
    with pytest.raises(DshapError, match="not kept"):
        twin.value_training()


def test_rows_that_were_not_kept(rows):
    X, y = rows
    with pytest.raises(DshapError, match="keep_training=True"):
        RegressionValuer(keep_training=False).fit(X, y).value_training()
    with pytest.raises(DshapError, match="not kept"):
        RegressionValuer().partial_fit(X, y).value_training()


def test_rows_that_were_changed_are_noticed(rows):
    X, y = rows
    valuer = RegressionValuer().fit(X, y)
    valuer.value_training()
    X[0, 0] += 1
    with pytest.raises(InputError, match="have changed since they were fitted"):
        valuer.value_training()


def test_what_cannot_take_more_rows_says_so(rows):
    X, y = rows
    for method in ("calibrated", "general"):
        assert not hasattr(RegressionValuer(method), "partial_fit")
        with pytest.raises(AttributeError) as caught:
            RegressionValuer(method, m=50).fit(X, y).partial_fit(X, y)
        assert "cannot take further rows" in str(caught.value.__cause__)
        with pytest.raises(DshapError, match=method):
            RegressionValuer(method, m=50).fit(X, y).merge(RegressionValuer(method, m=50).fit(X, y))


def test_partial_fit_with_new_levels(mixed):
    X, y = mixed
    X = X.dropna().drop(columns="size")
    y = y[X.index]
    known = X["city"] != "Lima"
    valuer = RegressionValuer().partial_fit(X[known], y[known]).partial_fit(X[~known], y[~known])
    whole = RegressionValuer().fit(X, y)
    assert sorted(valuer.columns_) == sorted(whole.columns_)
    np.testing.assert_allclose(valuer.value(X, y), whole.value(X, y), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"method": "best"}, "`method` is 'best'; expected 'gaussian' or"),
        ({"method": 3}, "`method` is 3"),
        ({"m": 1.5}, "`m` is 1.5; expected a whole number"),
        ({"m": 0}, "`m` is 0; expected a whole number from 1"),
        ({"q": -4}, "`q` is -4"),
        ({"m": 5}, "set sizes q = 7, m = 5 are impossible for 4 design columns"),
        ({"ridge": 1.0}, "the closed form has no ridge; `ridge` goes with `method='general'`"),
        ({"method": "lower", "ridge": -1.0}, "`ridge` is -1"),
        ({"constant": "all"}, "`constant` is 'all'; expected gain, theorem or full:C"),
        ({"convention": "printed", "constant": "full:1"}, "`convention='printed'` is Theorem 2 as printed"),
        ({"convention": "spoken"}, "`convention` is 'spoken'"),
        ({"bound_c": 1.0}, "`bound_c` goes with `method='lower'` and `method='upper'` only"),
        ({"stop_draws": 0.1}, "`stop_draws` goes with"),
        ({"method": "general", "samples": 0}, "`samples` is 0"),
        ({"seed": -1}, "`seed` is -1"),
        ({"missing": "zero"}, "`missing` is 'zero'; expected 'error' or 'drop' or 'mean'"),
        ({"dependent": "keep"}, "`dependent` is 'keep'"),
        ({"intercept": "yes"}, "`intercept` is 'yes'"),
        ({"intercept": False, "refit_intercept": True}, "`refit_intercept` needs an intercept"),
        ({"n_jobs": 0}, "`n_jobs` is 0"),
    ],
)
def test_parameters_that_make_no_sense(params, words, rows):
    with pytest.raises(InputError) as caught:
        RegressionValuer(**params).fit(*rows)
    assert words in str(caught.value)
    assert "--" not in str(caught.value), "flags are for the command line"


def test_errors_have_the_classes_people_catch(rows, tmp_path):
    X, y = rows
    assert issubclass(InputError, DshapError) and issubclass(InputError, ValueError)
    assert issubclass(FileError, DshapError) and issubclass(FileError, OSError)
    with pytest.raises(FileError, match="nothing.dshap"):
        RegressionValuer.load(tmp_path / "nothing.dshap")
    with pytest.raises(FileError):
        RegressionValuer().fit(X, y).save(tmp_path / "no folder" / "v.dshap")
    (tmp_path / "foreign.dshap").write_text("a,b\n1,2\n")
    with pytest.raises(InputError):
        RegressionValuer.load(tmp_path / "foreign.dshap")
    with pytest.raises(InputError, match="target `y` is constant"):
        RegressionValuer().fit(X, np.ones(len(y)))
    with pytest.raises(InputError, match="no noise to value rows against"):
        RegressionValuer().fit(X, X[:, 0])
    with pytest.raises(InputError, match="have no standard errors"):
        RegressionValuer("lower", q=300).fit(X, y).standard_errors(X, y)


def test_every_message_speaks_of_parameters(rows, mixed):
    X, y = rows
    frame, price = mixed
    weights = np.ones(len(y))
    weights[0] = -1
    acts = [
        lambda: RegressionValuer().fit(X[:4], y[:4]),
        lambda: RegressionValuer().fit(frame, price),
        lambda: RegressionValuer().fit(X, y, sample_weight=weights),
        lambda: RegressionValuer().fit(X, y, sample_weight=0 * weights),
        lambda: RegressionValuer().fit(np.ones((9, 2)), np.arange(9)),
        lambda: RegressionValuer("general", m=800).fit(X, y).value_training(),
        lambda: RegressionValuer("lower", m=20).fit(X, y),
        lambda: RegressionValuer(missing="mean").fit(pd.DataFrame({"a": [np.nan] * 20, "b": range(20)}), np.arange(20) ** 2),
        lambda: RegressionValuer().fit(frame[["city"]].assign(mixed=["1", "2", "x"] * 200), price),
    ]
    for act in acts:
        with pytest.raises(DshapError) as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            act()
        assert "--" not in str(caught.value), str(caught.value)
    heavy = np.random.default_rng(0).standard_t(3, (2000, 4))
    with pytest.warns(DshapWarning, match="consider `method='calibrated'`"):
        RegressionValuer().fit(heavy, heavy.sum(axis=1) + np.random.default_rng(1).standard_normal(2000))


def test_warnings_point_at_the_line_of_the_user(rows):
    X, y = rows
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        RegressionValuer().fit(np.column_stack([X, X[:, 0]]), y)
    assert [warning.filename for warning in said] == [__file__]


def test_weights_are_shares(rows):
    X, y = rows
    ones = RegressionValuer().fit(X, y, sample_weight=np.full(len(y), 3.0))
    np.testing.assert_allclose(ones.value(X, y), RegressionValuer().fit(X, y).value(X, y), rtol=1e-12)
    with pytest.raises(InputError, match="knows no weights"):
        RegressionValuer("general").fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(InputError, match="sample_weight"):
        RegressionValuer().fit(X, y).partial_fit(X, y, sample_weight=np.ones(len(y)))
