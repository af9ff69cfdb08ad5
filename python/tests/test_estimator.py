"""A scikit-learn estimator in every respect that applies."""

import errno
import os
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import assert_same_bits
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dshap import ClassificationValuer, DensityValuer, DshapError, DshapWarning, FileError, InputError, RegressionValuer


def does_not_apply(estimator):
    """Checks of scikit-learn that cannot pass, and why."""
    reasons = {
        "check_sample_weight_equivalence_on_dense_data": (
            "a weight is a share in the reference, not a number of copies: three copies of a row tell more about "
            "the noise than one row of weight 3, as with any survey weights"
        )
    }
    if isinstance(estimator, RegressionValuer):
        exact = "the data of the check have no noise, against which rows could be valued; that is an error"
        reasons |= {f"check_sample_weights_{kind}": exact for kind in ("shape", "not_overwritten")}
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
        # The features of the checks separate the labels, so there is no fit without a ridge.
        ClassificationValuer(ridge=1.0),
        ClassificationValuer("calibrated", ridge=1.0),
        ClassificationValuer("general", samples=8, ridge=1.0),
        ClassificationValuer("upper", q=6, ridge=1.0, missing="drop"),
        DensityValuer(),
        DensityValuer("monte-carlo", bandwidth="scott"),
        DensityValuer(kernel="uniform", missing="mean"),
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
    with pytest.raises(NotFittedError) as caught:
        twin.value(*rows)
    assert isinstance(caught.value, DshapError)


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
        ({"method": "best"}, "`method` is 'best'; expected 'gaussian', 'calibrated'"),
        ({"method": 3}, "`method` is 3"),
        ({"m": 1.5}, "`m` is 1.5; expected a whole number"),
        ({"m": 0}, "`m` is 0; expected a whole number of at least 1"),
        ({"q": -4}, "`q` is -4"),
        ({"m": 5}, "set sizes q = 7, m = 5 are impossible for 4 design columns"),
        ({"ridge": 1.0}, "`ridge` does not go with `method='gaussian'`: the closed form of a regression has no ridge"),
        ({"method": "lower", "ridge": -1.0}, "`ridge` is -1"),
        ({"constant": "all"}, "`constant` is 'all'; expected gain, theorem, or full:C"),
        ({"convention": "printed", "constant": "full:1"}, "`constant='full:1'` and `convention='printed'` do not go together"),
        ({"convention": "spoken"}, "`convention` is 'spoken'"),
        ({"bound_c": 1.0}, "`bound_c` goes with `lower` and `upper` only"),
        ({"stop_draws": 0.1}, "`stop_draws` goes with"),
        ({"method": "general", "samples": 0}, "`samples` is 0"),
        ({"seed": -1}, "`seed` is -1"),
        ({"missing": "zero"}, "`missing` is 'zero'; expected 'error', 'drop' or 'mean'"),
        ({"dependent": "keep"}, "`dependent` is 'keep'"),
        ({"intercept": "yes"}, "`intercept` is 'yes'"),
        ({"intercept": False, "refit_intercept": True}, "`refit_intercept` and `intercept=False` do not go together: there is no intercept to refit"),
        ({"n_jobs": 0}, "`n_jobs` is 0"),
        ({"n_jobs": "x"}, "`n_jobs` is 'x'; expected a number of threads"),
        ({"n_jobs": 1.5}, "`n_jobs` is 1.5"),
        ({"categorical": 3}, "`categorical` is 3; expected a list of columns"),
        ({"categorical": "a"}, "`categorical` is 'a'; expected a list of columns"),
        ({"categorical": [9]}, "`categorical` names 9, which is not a column of X"),
        ({"m": 10**30}, "`m` is 1000000000000000000000000000000; expected a whole number"),
        ({"progress": "yes"}, "`progress` is 'yes'; expected True or False"),
        ({"keep_training": 2}, "`keep_training` is 2; expected True or False"),
    ],
)
def test_parameters_that_make_no_sense(params, words, rows):
    with pytest.raises(InputError) as caught:
        RegressionValuer(**params).fit(*rows)
    assert words in str(caught.value)
    assert "--" not in str(caught.value), "flags are for the command line"


def test_errors_have_the_classes_people_catch(rows):
    X, y = rows
    assert issubclass(InputError, DshapError) and issubclass(InputError, ValueError)
    assert issubclass(FileError, DshapError) and issubclass(FileError, OSError)
    with pytest.raises(InputError, match="target `y` is constant"):
        RegressionValuer().fit(X, np.ones(len(y)))
    with pytest.raises(InputError, match="linear function of the features, up to rounding; values need some noise"):
        RegressionValuer().fit(X, X[:, 0])
    with pytest.raises(InputError, match="have no standard errors"):
        RegressionValuer("lower", q=300).fit(X, y).standard_errors(X, y)


def test_errors_about_files_are_those_of_the_operating_system(rows, tmp_path):
    valuer = RegressionValuer().fit(*rows)
    missing = tmp_path / "nothing.dshap"
    with pytest.raises(FileError, match="cannot read .*nothing.dshap") as caught:
        RegressionValuer.load(missing)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(missing))
    folder = tmp_path / "no folder"
    with pytest.raises(FileError, match="os.makedirs") as caught:
        valuer.save(folder / "v.dshap")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(folder / "v.dshap"))
    with pytest.raises(FileError) as caught:
        RegressionValuer.load(tmp_path)
    assert caught.value.errno == errno.EISDIR
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.errno) == (str(caught.value), errno.EISDIR)


@pytest.mark.parametrize("damage", ["foreign", "short", "flipped", "empty"])
def test_damaged_files_and_pickles_are_file_errors(damage, rows, tmp_path):
    path = tmp_path / "v.dshap"
    valuer = RegressionValuer().fit(*rows)
    valuer.save(path)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-5] ^= 1
    damaged = {"foreign": b"a,b\n1,2\n" * 99, "short": whole[:-9], "flipped": bytes(flipped), "empty": b""}[damage]
    path.write_bytes(damaged)
    with pytest.raises(FileError) as caught:
        RegressionValuer.load(path)
    assert caught.value.filename == str(path) and caught.value.errno is None and "v.dshap" in str(caught.value)
    state = valuer.__getstate__()
    with pytest.raises(FileError, match="the pickle"):
        RegressionValuer().__setstate__({**state, "_bytes": damaged})


def test_paths_of_every_kind(rows, tmp_path):
    valuer = RegressionValuer().fit(*rows)
    for path in (tmp_path / "a.dshap", str(tmp_path / "b.dshap"), os.fsencode(tmp_path / "c.dshap")):
        valuer.save(path)
        assert_same_bits(RegressionValuer.load(path).coef_, valuer.coef_)
    for act in (valuer.save, RegressionValuer.load):
        with pytest.raises(InputError, match="`path` is 3; expected a path"):
            act(3)


def test_columns_that_have_names_like_numbered_ones_have_names(rows, tmp_path):
    X, y = rows
    names = [f"column_{j}" for j in range(4)]
    frame = pd.DataFrame(X, columns=names)
    RegressionValuer().fit(frame, y).save(tmp_path / "named.dshap")
    named = RegressionValuer.load(tmp_path / "named.dshap")
    assert named.feature_names_in_.tolist() == names
    with pytest.raises(InputError, match="same order"):
        named.value(frame[names[::-1]], y)
    RegressionValuer().fit(X, y).save(tmp_path / "numbered.dshap")
    numbered = RegressionValuer.load(tmp_path / "numbered.dshap")
    assert not hasattr(numbered, "feature_names_in_")
    assert_same_bits(numbered.value(X, y), RegressionValuer().fit(X, y).value(X, y))


def test_further_rows_are_fitted_as_the_parameters_say_now(rows):
    X, y = rows
    valuer = RegressionValuer(m=100).partial_fit(X[:300], y[:300])
    valuer.set_params(m=200, q=20).partial_fit(X[300:], y[300:])
    assert (valuer.m_, valuer.q_) == (200, 20)
    whole = RegressionValuer(m=200, q=20).fit(X, y)
    np.testing.assert_allclose(valuer.value(X, y), whole.value(X, y), rtol=1e-9)
    assert valuer.set_params(m=None, q=None).partial_fit(X, y).m_ == 1400
    with pytest.raises(InputError, match="`method` is 'lower', but was 'gaussian' when the first rows were fitted"):
        valuer.set_params(method="lower").partial_fit(X, y)
    valuer.set_params(method="gaussian", n_jobs=1).partial_fit(X, y)
    again = pickle.loads(pickle.dumps(valuer)).set_params(missing="mean")
    with pytest.raises(InputError, match="`missing` is 'mean', but was 'error'"):
        again.partial_fit(X, y)


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
    with pytest.warns(DshapWarning, match="`method='calibrated'` allows for inputs of any distribution"):
        RegressionValuer().fit(heavy, heavy.sum(axis=1) + np.random.default_rng(1).standard_normal(2000))


def test_warnings_point_at_the_line_of_the_user(rows):
    X, y = rows
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RegressionValuer().fit(np.column_stack([X, X[:, 0]]), y)
        RegressionValuer().fit(X, y[:, None])
    assert [warning.filename for warning in caught] == [__file__, __file__]
    assert issubclass(caught[1].category, DataConversionWarning)


def test_arguments_that_make_no_sense(rows):
    X, y = rows
    valuer = RegressionValuer().fit(X, y)
    for act, words in [
        (lambda: valuer.value(X, y, m=1.5), "`m` is 1.5; expected a whole number from 1"),
        (lambda: valuer.value(X, y, q="x"), "`q` is 'x'; expected a whole number"),
        (lambda: valuer.explain(X, y, m=0), "`m` is 0; expected a whole number from 1"),
        (lambda: valuer.standard_errors(X, y, m=10**16), "expected a whole number from 1 to 1e\\+15"),
        (lambda: valuer.value(X, y, as_frame="pandas"), "`as_frame` is 'pandas'; expected True or False"),
        (lambda: valuer.value_training(as_frame="pandas"), "`as_frame` is 'pandas'"),
        (lambda: valuer.explain(X, y, std_error="yes"), "`std_error` is 'yes'"),
        (lambda: valuer.merge(X), "a ndarray cannot be merged"),
    ]:
        with pytest.raises(InputError, match=words):
            act()


def test_weights_are_shares(rows):
    X, y = rows
    ones = RegressionValuer().fit(X, y, sample_weight=np.full(len(y), 3.0))
    np.testing.assert_allclose(ones.value(X, y), RegressionValuer().fit(X, y).value(X, y), rtol=1e-12)
    with pytest.raises(InputError, match="`sample_weight` does not go with `method='general'`: sets of rows have no weights"):
        RegressionValuer("general").fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(InputError, match="sample_weight"):
        RegressionValuer().fit(X, y).partial_fit(X, y, sample_weight=np.ones(len(y)))
