"""Trials of values: the curves of the command line, and arithmetic that NumPy can check."""

import itertools

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from conftest import assert_same_bits
from scipy import stats
from sklearn.metrics import roc_auc_score

import dshap
from dshap import InputError, baselines, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::dshap.DshapWarning")

#: The numbers by which the command line separates the seeds of its streams.
APART = 1_000_003


@pytest.fixture
def trial(tmp_path):
    """Rows and test rows of a regression and a classification, also as files."""

    def made(name, n, seed):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.standard_normal((n, 2)), columns=["a", "b"])
        y = 2 * frame["a"] - frame["b"] + rng.standard_normal(n)
        frame = frame.assign(y=y, kind=np.where(y > 0, "yes", "no"))
        frame.to_parquet(tmp_path / f"{name}.parquet")
        return frame

    return made("points", 70, 1), made("test", 90, 2), tmp_path


@pytest.fixture
def curves_by_command(command, tmp_path):
    def run(*words):
        command("evaluate", *words, "--quiet", "-o", tmp_path / "curves.parquet")
        return pyarrow.parquet.read_table(tmp_path / "curves.parquet").to_pandas()

    return run


def part(frame, experiment, method, order):
    return frame[(frame["experiment"] == experiment) & (frame["method"] == method) & (frame["order"] == order)]


@pytest.mark.parametrize("target, valuer, flags, keywords", [
    ("y", dshap.RegressionValuer(), [], {}),
    ("y", dshap.RegressionValuer(method="calibrated"), ["--ridge", 2], {"ridge": 2.0}),
    ("kind", dshap.ClassificationValuer(), ["--utility", "log-loss"], {"utility": "log-loss"}),
])  # fmt: skip
def test_the_curves_of_the_command_line(target, valuer, flags, keywords, trial, curves_by_command):
    points, test, folder = trial
    method, seed = valuer.method, 5
    features = ["a", "b"]
    pair = (points[features], points[target])
    values = {method: valuer.fit(*pair).explain_training()}
    expected = curves_by_command(
        folder / "points.parquet", "--target", target, "--exclude", "kind" if target == "y" else "y",
        "--test", folder / "test.parquet", "--methods", method, "--repeats", 2, "--seed", seed, *flags,
    )  # fmt: skip
    keywords = {**keywords, "test": (test[features], test[target]), "seed": seed}
    found = pd.concat([
        evaluate.point_addition(values, *pair, repeats=2, **keywords).to_pandas(),
        evaluate.point_removal(values, *pair, **keywords).to_pandas(),
    ])  # fmt: skip
    for experiment, (name, order) in itertools.product(
        ("addition", "removal"), ((method, "high"), (method, "low"), ("random", "random"))
    ):
        ours, theirs = part(found, experiment, name, order), part(expected, experiment, name, order)
        assert list(ours["n_rows"]) == list(theirs["n_rows"])
        assert_same_bits(ours["utility"], theirs["utility"])
        assert_same_bits(ours["relative"], theirs["relative"])


def test_the_detection_of_the_command_line(trial, curves_by_command):
    points, test, folder = trial
    expected = curves_by_command(
        folder / "points.parquet", "--target", "y", "--exclude", "kind", "--test", folder / "test.parquet",
        "--methods", "gaussian", "--noise", 0.2, "--seed", 3,
    )  # fmt: skip
    y, is_wrong = evaluate.corrupt(points["y"], 0.2, seed=3 + 2 * APART)
    assert is_wrong.sum() == 14 and (y[~is_wrong] == points["y"][~is_wrong]).all()
    values = dshap.RegressionValuer().fit(points[["a", "b"]], y).explain_training()
    found = evaluate.noise_detection({"gaussian": values, "penalty": -values.penalty}, is_wrong)
    for name, order in (("gaussian", "value"), ("penalty", "penalty")):
        theirs = part(expected, "detection", "gaussian", order)["found"]
        assert_same_bits(part(found.curves.to_pandas(), "detection", name, "value")["found"], theirs)
    assert found.auc[0] == pytest.approx(1 - roc_auc_score(is_wrong, values), abs=1e-12)
    assert found.method[-1] == "random" and found.auc[-1] == 0.5 and found.f1[-1] == 0.2


def test_agreement_is_that_of_scipy(trial):
    points, test, _ = trial
    pair, tests = (points[["a", "b"]], points["y"]), (test[["a", "b"]], test["y"])
    values = {
        "gaussian": dshap.RegressionValuer().fit(*pair).value_training(),
        "loo": baselines.leave_one_out(*pair, test=tests),
        "mine": pd.Series(np.random.default_rng(1).integers(0, 5, 70)),
    }
    values["gaussian"][3] = np.nan
    found = evaluate.compare(values, top=10)
    assert list(zip(found.one, found.other)) == [("gaussian", "loo"), ("gaussian", "mine"), ("loo", "mine")]
    kept = ~np.isnan(values["gaussian"])
    for i, (one, other) in enumerate(zip(found.one, found.other)):
        rows = kept if "gaussian" in (one, other) else slice(None)
        pair = np.asarray(values[one])[rows], np.asarray(values[other])[rows]
        assert found.spearman[i] == pytest.approx(stats.spearmanr(*pair).statistic, abs=1e-12)
        assert found.kendall[i] == pytest.approx(stats.kendalltau(*pair).statistic, abs=1e-12)
    assert ((found.top_overlap >= 0) & (found.top_overlap <= 1)).all()
    assert evaluate.compare(values).top == 7
    assert np.isnan(evaluate.compare({"one": [1.0, 2.0], "same": [1.0, 1.0]}).spearman[0])


def test_agreement_is_that_of_the_command_line(trial, command, tmp_path):
    import json

    points, test, folder = trial
    command(
        "compare", folder / "points.parquet", "--target", "y", "--exclude", "kind", "--methods", "gaussian,knn",
        "--summary", tmp_path / "s.json", "-o", tmp_path / "values.csv",
    )  # fmt: skip
    (expected,) = json.loads((tmp_path / "s.json").read_text())["pairs"]
    pair = (points[["a", "b"]], points["y"])
    found = evaluate.compare(
        {name: dshap.RegressionValuer(method=name).fit(*pair).value_training() for name in ("gaussian", "knn")}
    )
    for name in ("spearman", "kendall", "top_overlap"):
        assert getattr(found, name)[0] == expected[name]


@pytest.mark.parametrize("y, task", [
    (np.array(["a", "b", "c"] * 20), None),
    (np.array([True, False] * 30), None),
    (np.array([1, 2, 3] * 20), "classification"),
    (np.array([0, 1] * 30), None),
])  # fmt: skip
def test_wrong_labels_are_other_labels(y, task):
    changed, is_wrong = evaluate.corrupt(y, 0.25, task=task, seed=3)
    assert changed.dtype == y.dtype and is_wrong.sum() == 15
    assert ((changed != y) == is_wrong).all() and set(changed) <= set(y)
    again, same = evaluate.corrupt(y, 0.25, task=task, seed=3)
    assert (again == changed).all() and (same == is_wrong).all()


def test_wrong_numbers_are_those_of_other_rows():
    y = np.random.default_rng(2).standard_normal(50)
    changed, is_wrong = evaluate.corrupt(y, 0.1, seed=1)
    assert is_wrong.sum() == 5 and (changed[~is_wrong] == y[~is_wrong]).all()
    assert set(changed) <= set(y)
    whole = np.array([5, 6, 7] * 30)
    changed, is_wrong = evaluate.corrupt(whole, 0.2, task="regression", seed=1)
    assert is_wrong.sum() == 18 and ((changed != whole) == is_wrong).all()
    with pytest.raises(InputError, match="one number only"):
        evaluate.corrupt(np.full(9, 2.5))


def test_ties_are_broken_by_chance(trial):
    points, test, _ = trial
    pair, tests = (points[["a", "b"]], points["y"]), (test[["a", "b"]], test["y"])
    found = evaluate.point_addition({"same": np.ones(70)}, *pair, test=tests).to_pandas()
    random = part(found, "addition", "random", "random")["utility"]
    for order in ("high", "low"):
        assert_same_bits(part(found, "addition", "same", order)["utility"], random)
    assert evaluate.compare({"one": np.ones(20), "other": np.zeros(20)}, top=2).top_overlap[0] == pytest.approx(0.1)


def test_the_result_does_not_depend_on_threads(trial):
    points, test, _ = trial
    pair, tests = (points[["a", "b"]], points["kind"]), (test[["a", "b"]], test["kind"])
    one, many = (
        evaluate.point_addition(np.arange(70.0), *pair, test=tests, n_jobs=n_jobs).utility for n_jobs in (1, 3)
    )
    assert_same_bits(one, many)


def test_rows_left_out_and_rows_without_a_value(trial):
    points, test, _ = trial
    X = points[["a", "b"]].copy()
    X.loc[4, "a"] = np.nan
    value = np.arange(70.0)
    value[9] = np.nan
    found = evaluate.point_removal(value, X, points["y"], test=(test[["a", "b"]], test["y"]), missing="drop")
    assert found.n_rows.max() == 57, "69 rows are usable, and q = 12 are left at the end"
    assert list(found.means()) == ["values", "random"]


def test_figures(trial, tmp_path):
    points, test, _ = trial
    pair, tests = (points[["a", "b"]], points["y"]), (test[["a", "b"]], test["y"])
    curves = evaluate.point_addition({"a < b": np.arange(70.0)}, *pair, test=tests)
    found = evaluate.noise_detection({"a < b": np.arange(70.0)}, np.arange(70) % 7 == 0)
    svg = evaluate.figure(curves, found, path=tmp_path / "f.svg", title="Trial & error")
    assert (tmp_path / "f.svg").read_text() == svg
    for words in ("Point addition", "Detection of wrong targets", "a &lt; b, high first", "Trial &amp; error"):
        assert words in svg
    assert curves._repr_html_().startswith("<svg") and "a < b" in repr(curves) and "AUC" in repr(found)
    with pytest.raises(dshap.FileError, match="nowhere"):
        curves.figure(tmp_path / "nowhere" / "f.svg")


def test_frames(trial):
    found = evaluate.noise_detection({"mine": [3.0, 1.0, 2.0]}, [False, True, False])
    assert found.to_pandas()["auc"].tolist() == [1.0, 0.5]
    assert found.curves.to_polars().columns == ["experiment", "method", "order", "n_rows", "utility", "relative", "found"]
    assert found.curves.to_arrow().num_rows == 8


@pytest.mark.parametrize("call, words", [
    (lambda X, y, test: evaluate.point_addition(np.zeros(3), X, y, test=test), "has 3 values, but X has 40 rows"),
    (lambda X, y, test: evaluate.point_addition({"random": y}, X, y, test=test), "which stands for chance"),
    (lambda X, y, test: evaluate.point_addition({}, X, y, test=test), "`values` is empty"),
    (lambda X, y, test: evaluate.point_addition({1: y}, X, y, test=test), "expected text"),
    (lambda X, y, test: evaluate.point_addition({"a": y * np.nan}, X, y, test=test), "no value for any row"),
    (lambda X, y, test: evaluate.point_addition({"a": y}, X, y, test=None), "`test` is None"),
    (lambda X, y, test: evaluate.point_addition({"a": y}, X, y, test=test, repeats=0), "`repeats` is 0"),
    (lambda X, y, test: evaluate.point_removal({"a": y}, X, y, test=test, utility="accuracy"), "is for classification"),
    (lambda X, y, test: evaluate.noise_detection(y, y), "expected True and False"),
    (lambda X, y, test: evaluate.noise_detection(y, np.zeros(40, dtype=bool)), "must be wrong and some right"),
    (lambda X, y, test: evaluate.noise_detection(y, np.zeros(4, dtype=bool)), "is_wrong has 4 rows"),
    (lambda X, y, test: evaluate.compare(y), "is a dict"),
    (lambda X, y, test: evaluate.compare({"a": y, "b": y[1:]}), "has 39 values"),
    (lambda X, y, test: evaluate.corrupt(y, 1.0), "between 0 and 1"),
    (lambda X, y, test: evaluate.corrupt(["a", "a"]), "one label only"),
    (lambda X, y, test: evaluate.corrupt([1.0, np.nan, 3.0]), "missing or not finite"),
    (lambda X, y, test: evaluate.figure(y), "has no curves"),
])  # fmt: skip
def test_refusals(call, words):
    X, y = dshap.datasets.gaussian_r(40, 2, seed=1)
    with pytest.raises(InputError, match=words):
        call(X, y, dshap.datasets.gaussian_r(40, 2, seed=2))
