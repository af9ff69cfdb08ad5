"""Rows with labels: the same bits as the command line, for labels of any kind."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import assert_same_bits, column
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dshap
from dshap import ClassificationValuer, DshapError, InputError, RegressionValuer

pytestmark = pytest.mark.filterwarnings("ignore::dshap.DshapWarning")

NAMES = ["a", "b", "c"]
PARTS = ["value", "potential", "penalty", "correction", "dist_sq", "prob", "weight"]

#: Parameters, and the same as flags.
METHODS = {
    "gaussian": ({}, []),
    "sizes": ({"m": 300, "q": 9}, ["--m", 300, "--q", 9]),
    "no intercept": ({"intercept": False}, ["--no-intercept"]),
    "ridge": ({"ridge": 2.5}, ["--ridge", 2.5]),
    "theorem": ({"constant": "theorem"}, ["--constant", "theorem"]),
    "printed": ({"convention": "printed"}, ["--convention", "printed"]),
    "calibrated": ({"method": "calibrated", "ridge": 1.0}, ["--method", "calibrated", "--ridge", 1.0]),
    "lower": ({"method": "lower", "q": 200}, ["--method", "lower", "--q", 200]),
    "upper": (
        {"method": "upper", "q": 300, "bound_c": 0.4, "bound_C": 1.5, "ridge": 0.5},
        ["--method", "upper", "--q", 300, "--bound-c", 0.4, "--bound-C", 1.5, "--ridge", 0.5],
    ),
    "bound of the authors' program": (
        {"method": "lower", "convention": "authors", "q": 60},
        ["--method", "lower", "--convention", "authors", "--q", 60],
    ),
    "printed bound": (
        {"method": "lower", "convention": "printed", "q": 60},
        ["--method", "lower", "--convention", "printed", "--q", 60],
    ),
    "general": (
        {"method": "general", "samples": 40, "seed": 5, "m": 60},
        ["--method", "general", "--samples", 40, "--seed", 5, "--m", 60],
    ),
    "second-order": ({"method": "second-order"}, ["--method", "second-order"]),
    "accuracy": (
        {"method": "second-order", "utility": "accuracy", "m": 200},
        ["--method", "second-order", "--utility", "accuracy", "--m", 200],
    ),
    "brier": (
        {"method": "second-order", "utility": "brier", "ridge": 1.0},
        ["--method", "second-order", "--utility", "brier", "--ridge", 1.0],
    ),
    "spread": (
        {"method": "second-order", "spread": "model", "small_ridge": 0.5, "shift": 6.5},
        ["--method", "second-order", "--spread", "model", "--small-ridge", 0.5, "--shift", 6.5],
    ),
    "pca": ({"pca": 2, "ridge": 1.0}, ["--pca", 2, "--ridge", 1.0]),
}

#: For two labels only.
BINARY = {
    "positive": ({"positive": 0}, ["--positive", 0]),
    "measured": (
        {"method": "second-order", "shift": "measured", "q": 60, "seed": 3},
        ["--method", "second-order", "--shift", "measured", "--q", 60, "--seed", 3],
    ),
}

CASES = [(2, case) for case in METHODS | BINARY] + [(3, case) for case in METHODS]


def labelled(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(600, 3)) * [1.0, 3.0, 0.5] + [0.0, 5.0, -1.0]
    score = X[:, 0] + 0.3 * X[:, 1] + 1.2 * rng.logistic(size=600)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def saved(X, y, path):
    pd.DataFrame(X, columns=NAMES).assign(t=y).to_parquet(path)
    return path


def assert_same_parts(found, expected):
    for part in PARTS:
        if part in expected.column_names:
            assert_same_bits(getattr(found, part), column(expected, part))
        else:
            assert getattr(found, part) is None


@pytest.mark.parametrize(("n_classes", "case"), CASES)
def test_rows_against_each_other(n_classes, case, tmp_path, values_by_command):
    (X, y), (params, flags) = labelled(n_classes), (METHODS | BINARY)[case]
    found = ClassificationValuer(**params).fit(X, y).explain_training()
    words = [saved(X, y, tmp_path / "all.parquet"), "--target", "t", "--task", "classification", *flags]
    assert_same_parts(found, values_by_command(*words))


@pytest.mark.parametrize(("n_classes", "case"), CASES)
def test_points_against_a_reference(n_classes, case, tmp_path, command, values_by_command):
    (X, y), (params, flags) = labelled(n_classes), (METHODS | BINARY)[case]
    valuer = ClassificationValuer(**params).fit(pd.DataFrame(X[:400], columns=NAMES), pd.Series(y[:400], name="t"))
    reference, points = tmp_path / "reference.parquet", saved(X[400:], y[400:], tmp_path / "points.parquet")
    saved(X[:400], y[:400], reference)
    expected = values_by_command(points, "--reference", reference, "--target", "t", "--task", "classification", *flags)
    frame = pd.DataFrame(X[400:], columns=NAMES)
    assert_same_bits(valuer.value(frame, y[400:]), column(expected, "value"))
    assert_same_parts(valuer.explain(frame, y[400:]), expected)

    # Files go both ways, with the same bits.
    valuer.save(tmp_path / "own.dshap")
    by_own = values_by_command(points, "--valuer", tmp_path / "own.dshap")
    assert_same_bits(column(by_own, "value"), column(expected, "value"))
    command("fit", reference, "--target", "t", "--task", "classification", *flags, "-o", tmp_path / "cli.dshap", "--quiet")
    loaded = ClassificationValuer.load(tmp_path / "cli.dshap")
    assert_same_bits(loaded.value(frame, y[400:]), column(expected, "value"))
    for name, value in params.items():
        assert getattr(loaded, name) == value
    again = loaded.fit(frame := pd.DataFrame(X[:400], columns=NAMES), y[:400])
    assert_same_bits(again.value(frame, y[:400]), valuer.value(frame, y[:400]))


@pytest.mark.parametrize(
    ("n_classes", "case"),
    [(2, "gaussian"), (2, "calibrated"), (2, "general"), (3, "ridge"), (2, "second-order"), (3, "second-order")],
)
def test_standard_errors(n_classes, case, tmp_path, values_by_command):
    (X, y), (params, flags) = labelled(n_classes), (METHODS | BINARY)[case]
    words = [saved(X, y, tmp_path / "all.parquet"), "--target", "t", "--task", "classification", "--stderr", *flags]
    valuer = ClassificationValuer(**params).fit(X, y)
    assert_same_bits(valuer.explain_training(std_error=True).stderr, column(values_by_command(*words), "stderr"))
    assert valuer.standard_errors(X[:9], y[:9]).shape == (9,)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("case", ["gaussian", "calibrated"])
def test_weights(case, n_classes, tmp_path, values_by_command):
    (X, y), (params, flags) = labelled(n_classes), METHODS[case]
    weights = np.random.default_rng(0).gamma(2.0, 1.0, len(y))
    weights[:20] = 0
    path = tmp_path / "weighted.parquet"
    pd.DataFrame(X, columns=NAMES).assign(t=y, w=weights).to_parquet(path)
    words = [path, "--target", "t", "--weight", "w", "--task", "classification", *flags]
    found = ClassificationValuer(**params).fit(X, y, sample_weight=weights)
    assert_same_bits(found.value_training(), column(values_by_command(*words), "value"))
    assert found.effective_rows_ < found.n_rows_ == 580
    with pytest.raises(InputError, match="sets of rows have no weights"):
        ClassificationValuer("general").fit(X, y, sample_weight=weights)


#: The same labels in several forms, and `classes_` for each.
WORDS = {
    "NumPy text": lambda y: np.array(["no", "yes"])[y],
    "objects": lambda y: np.array(["no", "yes"], dtype=object)[y],
    "list": lambda y: np.array(["no", "yes"])[y].tolist(),
    "pandas": lambda y: pd.Series(np.array(["no", "yes"])[y]),
    "pandas string": lambda y: pd.Series(np.array(["no", "yes"])[y]).astype("string"),
    "pandas category": lambda y: pd.Series(pd.Categorical.from_codes(y, ["no", "yes"])),
    "pandas category in another order": lambda y: pd.Series(pd.Categorical.from_codes(1 - y, ["yes", "no"])),
    "pandas arrow": lambda y: pd.Series(np.array(["no", "yes"])[y]).astype("string[pyarrow]"),
    "polars": lambda y: pl.Series(np.array(["no", "yes"])[y].tolist()),
    "polars category": lambda y: pl.Series(np.array(["no", "yes"])[y].tolist(), dtype=pl.Categorical),
    "polars enum": lambda y: pl.Series(np.array(["no", "yes"])[y].tolist(), dtype=pl.Enum(["yes", "no"])),
    "pyarrow": lambda y: pa.array(np.array(["no", "yes"])[y].tolist()),
    "pyarrow dictionary": lambda y: pa.array(np.array(["no", "yes"])[y].tolist()).dictionary_encode(),
    "pyarrow chunks": lambda y: pa.chunked_array([np.array(["no", "yes"])[part].tolist() for part in (y[:9], y[9:])]),
}
NUMBERS = {
    "integers": lambda y: y,
    "unsigned bytes": lambda y: y.astype(np.uint8),
    "doubles": lambda y: y.astype(float),
    "objects": lambda y: y.astype(object),
    "list": lambda y: y.tolist(),
    "pandas nullable": lambda y: pd.Series(y, dtype="Int64"),
    "pandas category": lambda y: pd.Series(pd.Categorical(y)),
    "polars": lambda y: pl.Series(y),
    "pyarrow": lambda y: pa.array(y),
}
BOOLEANS = {
    "NumPy": lambda y: y == 1,
    "objects": lambda y: (y == 1).astype(object),
    "list": lambda y: (y == 1).tolist(),
    "pandas nullable": lambda y: pd.Series(y == 1, dtype="boolean"),
    "pandas category": lambda y: pd.Series(pd.Categorical(y == 1)),
    "polars": lambda y: pl.Series(y == 1),
    "pyarrow": lambda y: pa.array(y == 1),
}


@pytest.mark.parametrize(
    ("labels", "classes"), [(WORDS, ["no", "yes"]), (NUMBERS, [0, 1]), (BOOLEANS, [False, True])], ids=["words", "numbers", "booleans"]
)
def test_labels_of_every_kind(labels, classes, tmp_path):
    X, y = labelled(2)
    expected = ClassificationValuer().fit(X, y)
    values, training = expected.value(X, y), expected.value_training()
    fitted = {}
    for kind, given in labels.items():
        for features in (X, pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES), pa.table(dict(zip(NAMES, X.T)))):
            valuer = fitted[kind] = ClassificationValuer().fit(features, given(y))
            assert valuer.classes_.tolist() == classes, kind
            assert [type(label) for label in valuer.classes_.tolist()] == [type(classes[0])] * 2 or kind == "doubles"
            assert_same_bits(valuer.value(features, given(y)), values)
            assert_same_bits(valuer.value_training(), training)
    valuer = next(iter(fitted.values()))
    valuer.save(tmp_path / "v.dshap")
    assert ClassificationValuer.load(tmp_path / "v.dshap").classes_.tolist() == classes
    for twin in (pickle.loads(pickle.dumps(valuer)), ClassificationValuer.load(tmp_path / "v.dshap")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for given in labels.values():
                assert_same_bits(twin.value(X, given(y)), values)


def test_the_files_have_the_labels_of_the_command_line(tmp_path, values_by_command):
    X, y = labelled(2)
    for labels in (WORDS["NumPy text"](y), y == 1, y.astype(float) - 0.5):
        path = tmp_path / "all.parquet"
        saved(X, labels, path)
        expected = column(values_by_command(path, "--target", "t", "--task", "classification"), "value")
        valuer = ClassificationValuer().fit(pd.DataFrame(X, columns=NAMES), pd.Series(labels, name="t"))
        assert_same_bits(valuer.value_training(), expected)
        valuer.save(tmp_path / "v.dshap")
        by_file = column(values_by_command(path, "--valuer", tmp_path / "v.dshap"), "value")
        assert_same_bits(valuer.value(pd.DataFrame(X, columns=NAMES), labels), by_file)


def test_text_that_looks_like_numbers_is_text(tmp_path):
    X, y = labelled(3)
    valuer = ClassificationValuer().fit(X, np.array(["0", "1", "10"])[y])
    assert valuer.classes_.tolist() == ["0", "1", "10"] and valuer.categorical is None
    assert_same_bits(valuer.value_training(), ClassificationValuer().fit(X, y).value_training())
    valuer.save(tmp_path / "v.dshap")
    assert ClassificationValuer.load(tmp_path / "v.dshap").categorical is None
    spelled = ClassificationValuer().fit(X, np.array(["1.0", "True", "x"])[y])
    assert spelled.classes_.tolist() == ["1.0", "True", "x"]


def test_the_positive_label():
    X, y = labelled(2)
    words = WORDS["NumPy text"](y)
    later, other = ClassificationValuer().fit(X, words), ClassificationValuer(positive="no").fit(X, words)
    assert other.classes_.tolist() == ["yes", "no"] and later.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(other.coef_, -later.coef_, rtol=1e-9)
    np.testing.assert_allclose(other.explain(X, words).prob, 1 - later.explain(X, words).prob, rtol=1e-9)
    np.testing.assert_allclose(other.value(X, words), later.value(X, words), rtol=1e-7)
    assert ClassificationValuer(positive=False).fit(X, y == 1).classes_.tolist() == [True, False]
    with pytest.raises(InputError, match="did you mean `yes`"):
        ClassificationValuer(positive="yess").fit(X, words)
    with pytest.raises(InputError, match="has 3 labels.*\n.*leave out `positive`"):
        ClassificationValuer(positive=1).fit(*labelled(3))


@pytest.mark.parametrize("positive", ["no", None])
def test_the_positive_label_is_remembered(positive, tmp_path):
    X, y = labelled(2)
    ClassificationValuer(positive=positive).fit(X, WORDS["list"](y)).save(tmp_path / "v.dshap")
    assert ClassificationValuer.load(tmp_path / "v.dshap").positive == positive


def test_what_was_learned_is_a_logistic_regression():
    X, y = labelled(2)
    valuer = ClassificationValuer(ridge=0.7).fit(X, y)
    # scikit-learn's C is 1 / γ.
    model = LogisticRegression(C=1 / 0.7, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(valuer.coef_, model.coef_, rtol=1e-5)
    np.testing.assert_allclose(valuer.intercept_, model.intercept_, rtol=1e-5)
    prob = model.predict_proba(X)
    np.testing.assert_allclose(valuer.explain(X, y).prob, prob[:, 1], rtol=1e-5)
    assert valuer.deviance_ == pytest.approx(-2 * np.log(prob[np.arange(600), y]).sum(), rel=1e-6)
    assert valuer.label_rows_.tolist() == np.bincount(y).tolist()
    assert (valuer.p_, valuer.q_, valuer.m_, valuer.n_rows_) == (4, 14, 600, 600) and valuer.n_iter_ > 2


def test_more_labels_are_told_from_all_others():
    X, y = labelled(3)
    valuer = ClassificationValuer().fit(X, y)
    assert valuer.coef_.shape == (3, 3) and valuer.intercept_.shape == (3,)
    each = [ClassificationValuer().fit(X, y == label) for label in range(3)]
    np.testing.assert_allclose(valuer.coef_, np.vstack([one.coef_ for one in each]), rtol=1e-8)
    np.testing.assert_allclose(
        valuer.value(X, y), sum(one.value(X, y == label) for label, one in enumerate(each)), rtol=1e-8, atol=1e-15
    )
    found = valuer.explain(X, y)
    assert list(found.per_class) == [f"{what}_{label}" for label in range(3) for what in ("value", "prob")]
    np.testing.assert_allclose(found.value, sum(found.per_class[f"value_{label}"] for label in range(3)), rtol=1e-12)
    some = found[[5, 2]]
    assert_same_bits(some.per_class["prob_1"], found.per_class["prob_1"][[5, 2]])
    assert each[0].explain(X, y == 0).per_class == {}


def test_columns_are_reduced_to_components(tmp_path):
    from sklearn.decomposition import PCA

    rng = np.random.default_rng(8)
    X = rng.normal(size=(500, 2)) @ rng.normal(size=(2, 12)) * 3 + rng.normal(size=(500, 12)) * 0.1 + 7
    y = np.where(X[:, 0] + rng.logistic(size=500) > 7, "cat", "dog")
    valuer = ClassificationValuer(pca=2).fit(X[:400], y[:400])
    assert valuer.columns_ == ["pca_1", "pca_2"] and valuer.coef_.shape == (1, 2) and valuer.n_features_in_ == 12
    pca = PCA(2).fit(X[:400])
    short = ClassificationValuer().fit(pca.transform(X[:400]), y[:400])
    np.testing.assert_allclose(
        valuer.value(X[400:], y[400:]), short.value(pca.transform(X[400:]), y[400:]), rtol=1e-8, atol=1e-12
    )
    valuer.save(tmp_path / "v.dshap")
    again = ClassificationValuer.load(tmp_path / "v.dshap")
    assert again.pca == 2
    assert_same_bits(again.value(X, y), valuer.value(X, y))
    with pytest.raises(InputError, match=r"set `pca` to a number between 1 and 12"):
        ClassificationValuer(pca=13).fit(X, y)
    reduced = dshap.RegressionValuer(pca=3).fit(X, X[:, 1] + rng.normal(size=500))
    assert not hasattr(reduced, "partial_fit")
    with pytest.raises(DshapError, match="principal components"):
        reduced.merge(reduced)


def test_wrong_labels_are_found():
    X, y = dshap.datasets.gaussian_c(2000, seed=3)
    clear = np.argsort(-np.abs(X[:, 0]))[:20]
    y[clear] = 1 - y[clear]
    worst = ClassificationValuer().fit(X, y).value_training().argsort()[:20]
    # By chance 20 of 2000 rows hold 0.2 of these 20.
    assert len(set(worst) & set(clear)) >= 15


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda X, y: (X, np.zeros(600)), "every usable reference row has the label `0` in target `y`.*at least two labels"),
        (lambda X, y: (X, ["yes"] * 600), "every usable reference row has the label `yes`"),
        (lambda X, y: (X, X[:, 0]), "more than 256 different labels\nhint: use `RegressionValuer` for numbers"),
        (lambda X, y: (X, [1, "a"] * 300), r"several kinds \(int, str\)"),
        (lambda X, y: (X, [{"a": 1}] * 600), r"several kinds \(dict\)"),
        (lambda X, y: (X, np.full(600, np.datetime64("2020-01-01"))), "y holds dates or times"),
        (lambda X, y: (X, pd.Series(pd.date_range("2020-01-01", periods=600, tz="UTC"))), "y holds dates or times"),
        (lambda X, y: (X, np.where(np.arange(600) == 7, np.inf, y)), "`y` row 7 holds `inf`"),
        (lambda X, y: (X, None), "the target y is None"),
        (lambda X, y: (X, np.column_stack([y, y])), "1d array"),
    ],
)
def test_labels_that_are_none(given, words):
    X, y = given(*labelled(2))
    with pytest.raises(InputError, match=words) as caught:
        ClassificationValuer().fit(X, y)
    assert "--" not in str(caught.value)


def test_a_ridge_is_the_way_out_of_separation():
    X, _ = labelled(2)
    words = "perfectly separated by the features.*\n.*`ridge='auto'` keeps the coefficients finite"
    with pytest.raises(InputError, match=words) as caught:
        ClassificationValuer(ridge=0).fit(X, X[:, 0] > 0)
    assert "--" not in str(caught.value)
    for ridge in ["auto", 1.0]:
        valuer = ClassificationValuer(ridge=ridge).fit(X, X[:, 0] > 0)
        assert np.isfinite(valuer.value_training()).all()
    automatic = ClassificationValuer().fit(X, X[:, 0] > 0).value_training()
    assert np.array_equal(valuer.set_params(ridge="auto").fit(X, X[:, 0] > 0).value_training(), automatic)
    for method in ("calibrated", "general"):
        drawn = ClassificationValuer(method, ridge=1.0, m=80, **({"samples": 8} if method == "general" else {}))
        assert np.isfinite(drawn.fit(X, X[:, 0] > 0).value_training()).all()


def test_labels_that_the_reference_does_not_have():
    X, y = labelled(2)
    for kinds, other in ((NUMBERS["integers"], 2), (WORDS["NumPy text"], "maybe")):
        labels = kinds(y)
        strange = labels.astype(object)
        strange[5] = other
        for features in (X, pl.DataFrame(X, schema=NAMES)):
            valuer = ClassificationValuer().fit(features, labels)
            with pytest.raises(InputError, match=f"^`y` row 5 holds the label `{other}`, which no reference row has; the labels are `"):
                valuer.value(features, strange)
    with pytest.raises(InputError, match="y holds text, but held numbers"):
        ClassificationValuer().fit(X, y).value(X, WORDS["list"](y))


def test_missing_labels_are_left_out_where_asked_for():
    X, y = labelled(2)
    words = WORDS["objects"](y)
    words[3] = None
    for features in (X, pd.DataFrame(X, columns=NAMES)):
        with pytest.warns(dshap.DshapWarning, match="missing cell"):
            values = ClassificationValuer(missing="drop").fit(features, words).explain_training()
        assert np.isnan(values.value[3]) and values.note[3] == "missing cell"
        assert np.isnan(values.value).sum() == 1


def test_rows_that_were_changed_are_noticed():
    X, y = labelled(2)
    valuer = ClassificationValuer().fit(X, y)
    before = valuer.value_training()
    zero, one = np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]
    # Means and spreads stay what they were.
    X[[zero, one]] = X[[one, zero]]
    with pytest.raises(InputError, match="have changed since they were fitted"):
        valuer.value_training()
    X[[zero, one]] = X[[one, zero]]
    assert_same_bits(valuer.value_training(), before)


def test_pickles_clones_and_pipelines():
    X, y = labelled(2)
    for method in ("gaussian", "calibrated", "general", "lower"):
        quick = {"samples": 8, "m": 60} if method == "general" else {}
        valuer = ClassificationValuer(method, ridge=0.5, **quick).fit(X, WORDS["list"](y))
        twin = pickle.loads(pickle.dumps(valuer))
        assert_same_bits(twin.value(X[:40], WORDS["list"](y[:40])), valuer.value(X[:40], WORDS["list"](y[:40])))
        assert twin.get_params() == valuer.get_params() and twin.classes_.tolist() == ["no", "yes"]
        with pytest.raises(DshapError, match="not kept"):
            twin.value_training()
        fresh = clone(valuer)
        assert fresh.get_params() == valuer.get_params() and not hasattr(fresh, "classes_")
    pipeline = make_pipeline(StandardScaler(), ClassificationValuer()).fit(X, y)
    plain = ClassificationValuer().fit(X, y)
    # Values do not depend on the units of the features.
    np.testing.assert_allclose(pipeline[-1].value_training(), plain.value_training(), rtol=1e-6)


@pytest.mark.parametrize("method", ["gaussian", "calibrated", "upper"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_number_of_threads_does_not_matter(n_classes, method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 4))
    y = np.digitize(X[:, 0] + rng.logistic(size=9000), [0.0, 1.0][: n_classes - 1])
    found = [ClassificationValuer(method, n_jobs=n).fit(X, y).value_training() for n in (1, 2, 3, None)]
    for other in found[1:]:
        assert_same_bits(found[0], other)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"method": "algorithm-3"}, "`method` is 'algorithm-3'; expected 'gaussian', 'calibrated'"),
        ({"ridge": -1.0}, "`ridge` is -1"),
        ({"bound_c": 1.0}, "`bound_c` goes with"),
        ({"method": "general", "samples": 0}, "`samples` is 0"),
        ({"m": 5}, "set sizes q = 7, m = 5 are impossible"),
        ({"stop": 0.1}, "`stop` goes with"),
        ({"utility": "brier"}, "`utility` goes with `second-order`"),
        ({"method": "second-order", "utility": "hinge"}, "`utility` is 'hinge'; expected 'log-loss', 'accuracy' or 'brier'"),
        ({"method": "second-order", "shift": "soon"}, "`shift` is 'soon'; expected 'measured' or a number"),
        ({"method": "second-order", "shift": 100, "q": 50}, "101 ≤ q ≤ m is needed"),
        ({"method": "second-order", "ridge": 1.0, "spread": "model"}, "leave out `spread`"),
        ({"method": "second-order", "small_ridge": -1.0}, "`small_ridge` is -1"),
    ],
)
def test_parameters_that_make_no_sense(params, words):
    with pytest.raises(InputError) as caught:
        ClassificationValuer(**params).fit(*labelled(2))
    assert words in str(caught.value) and "--" not in str(caught.value)


def test_files_of_another_task_are_refused(tmp_path):
    X, y = labelled(2)
    ClassificationValuer().fit(X, y).save(tmp_path / "c.dshap")
    RegressionValuer().fit(X, y + X[:, 0]).save(tmp_path / "r.dshap")
    with pytest.raises(InputError, match="holds a valuer for classification; load it with ClassificationValuer.load"):
        RegressionValuer.load(tmp_path / "c.dshap")
    with pytest.raises(InputError, match="holds a valuer for regression; load it with RegressionValuer.load"):
        ClassificationValuer.load(tmp_path / "r.dshap")
    assert not hasattr(ClassificationValuer(), "partial_fit") and not hasattr(ClassificationValuer(), "merge")
