"""Baselines: the same values as the command line, to the last bit."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import assert_same_bits, column

import dshap
from dshap import DshapError, DshapWarning, InputError, baselines

pytestmark = pytest.mark.filterwarnings("ignore::dshap.DshapWarning")


@pytest.fixture
def goods(tmp_path):
    """Rows with text, numbers and labels, and test rows, also as files."""

    def made(name, n, seed):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"size": rng.standard_normal(n), "city": rng.choice(["rome", "oslo", "bern"], n)})
        price = 2 * frame["size"] + (frame["city"] == "oslo") + rng.standard_normal(n)
        frame = frame.assign(price=price, kind=np.where(price > 0.5, "dear", "cheap"))
        frame.to_parquet(tmp_path / f"{name}.parquet")
        return frame

    return made("points", 60, 1), made("test", 80, 2), made("reference", 50, 3), tmp_path


FEATURES = ["size", "city"]

#: Function, keywords, and the same as flags.
NUMBERS = {
    "d-shapley": (baselines.d_shapley, {"m": 30, "samples": 120, "seed": 3}, ["--m", 30, "--samples", 120, "--seed", 3]),
    "ridge": (
        baselines.d_shapley,
        {"q": 3, "m": 20, "ridge": 2.0, "samples": 40, "stop": 0.0, "refit_intercept": True},
        ["--q", 3, "--m", 20, "--ridge", 2.0, "--samples", 40, "--stop", 0, "--refit-intercept"],
    ),
    "tmc-shapley": (baselines.tmc_shapley, {"samples": 60, "stop": 0.0}, ["--samples", 60, "--stop", 0]),
    "loo": (baselines.leave_one_out, {"intercept": False}, ["--no-intercept"]),
    "knn-shapley": (baselines.knn_shapley, {"k": 3, "metric": "manhattan"}, ["--k", 3, "--metric", "manhattan"]),
    "random": (baselines.random, {"seed": 9}, ["--seed", 9]),
}

LABELS = {
    "d-shapley": (baselines.d_shapley, {"m": 20, "samples": 20}, ["--m", 20, "--samples", 20]),
    "tmc-shapley": (
        baselines.tmc_shapley,
        {"samples": 10, "utility": "log-loss", "ridge": 0.5},
        ["--samples", 10, "--utility", "log-loss", "--ridge", 0.5],
    ),
    "loo": (baselines.leave_one_out, {}, []),
    "knn-shapley": (baselines.knn_shapley, {"k": 1, "scale": "none"}, ["--k", 1, "--scale", "none"]),
}


def same_as_the_command(found, expected):
    assert_same_bits(found.value, column(expected, "value"))
    if "stderr" in expected.column_names:
        assert_same_bits(found.stderr, column(expected, "stderr"))


@pytest.mark.parametrize("with_test", [True, False])
@pytest.mark.parametrize("task, target, case", [
    *(("regression", "price", case) for case in NUMBERS),
    *(("classification", "kind", case) for case in LABELS),
])  # fmt: skip
def test_the_bits_of_the_command_line(task, target, case, with_test, goods, values_by_command):
    points, test, _, folder = goods
    function, keywords, flags = (NUMBERS if task == "regression" else LABELS)[case]
    method = case if case != "ridge" else "d-shapley"
    other = "kind" if target == "price" else "price"
    words = [folder / "points.parquet", "--target", target, "--exclude", other, "--method", method, *flags]
    if with_test and case != "random":
        keywords = {**keywords, "test": (test[FEATURES], test[target])}
        words += ["--test", folder / "test.parquet"]
    if "samples" in keywords or case == "knn-shapley":
        words.append("--stderr")
    found = function(points[FEATURES], points[target], **keywords)
    same_as_the_command(found, values_by_command(*words))
    assert list(found.to_pandas().index) == list(points.index)
    if not with_test and case in ("loo", "d-shapley", "tmc-shapley"):
        assert (found.note == "test row").sum() == 12 and np.isnan(found.value).sum() == 12
    if function is baselines.d_shapley:
        again = function(points[FEATURES], points[target], n_jobs=1, **keywords)
        assert_same_bits(again.value, found.value)


def test_points_against_a_reference(goods, values_by_command):
    points, test, reference, folder = goods
    pair = lambda frame: (frame[FEATURES], frame["price"])  # noqa: E731
    found = baselines.d_shapley(
        *pair(points), reference=pair(reference), test=pair(test), samples=50, categorical=["city"]
    )
    expected = values_by_command(
        folder / "points.parquet", "--reference", folder / "reference.parquet", "--test", folder / "test.parquet",
        "--target", "price", "--exclude", "kind", "--method", "d-shapley", "--samples", 50, "--stderr",
    )  # fmt: skip
    same_as_the_command(found, expected)


def test_densities(goods, values_by_command):
    points, test, _, folder = goods
    flags = ["--exclude", "kind,price", "--test", folder / "test.parquet", "--bandwidth", 0.5, "--kernel", "triangular"]
    words = [folder / "points.parquet", "--task", "density", "--method", "exact-shapley", *flags]
    found = baselines.exact_shapley(points[FEATURES], test=test[FEATURES], bandwidth=0.5, kernel="triangular")
    same_as_the_command(found, values_by_command(*words))
    as_pair = baselines.exact_shapley(points[FEATURES], test=(test[FEATURES], None), bandwidth=0.5, kernel="triangular")
    assert_same_bits(as_pair.value, found.value)


def test_every_kind_of_table_gives_the_same(goods):
    points, test, _, _ = goods
    plain = [points[["size"]], test[["size"]]]
    expected = baselines.leave_one_out(plain[0], points["price"], test=(plain[1], test["price"])).value
    for kind in (lambda frame: frame.to_numpy(), pl.DataFrame, lambda frame: pl.DataFrame(frame).to_arrow()):
        X, X_test = map(kind, plain)
        found = baselines.leave_one_out(X, points["price"].to_numpy(), test=(X_test, test["price"].to_numpy()))
        assert_same_bits(found.value, expected)


def test_shares_add_up_to_what_all_rows_save():
    """Values add up to what all rows save, by least squares in NumPy without an intercept."""
    rng = np.random.default_rng(5)
    X, X_test = rng.standard_normal((11, 2)), rng.standard_normal((50, 2))
    y, y_test = X @ [1.0, 2.0] + rng.standard_normal(11), X_test @ [1.0, 2.0] + rng.standard_normal(50)
    values = baselines.exact_shapley(X, y, test=(X_test, y_test), intercept=False)
    coef = np.linalg.lstsq(X, y, rcond=None)[0]
    saved = np.mean(y_test**2) - np.mean((y_test - X_test @ coef) ** 2)
    assert values.value.sum() == pytest.approx(saved, rel=1e-10)


def test_doubts_are_warnings(goods):
    points, test, _, _ = goods
    given = {"test": (test[["size"]], test["price"])}
    with pytest.warns(DshapWarning, match=r"2 iterations are too few to judge convergence, .*; `values.stderr` shows how far off"):
        baselines.d_shapley(points[["size"]], points["price"], samples=2, **given)
    with pytest.warns(DshapWarning, match=r"`samples` allows more, `values.stderr` shows how far off"):
        baselines.d_shapley(points[["size"]], points["price"], samples=200, stop=1e-9, **given)
    with pytest.warns(DshapWarning, match=r"1 of the rows measures .* `test=\(X_test, y_test\)` gives other rows for that"):
        baselines.leave_one_out(points[["size"]][:9], points["price"][:9])


@pytest.mark.parametrize("function, keywords, words", [
    (baselines.leave_one_out, {"utility": "accuracy"}, "`utility` is for classification"),
    (baselines.leave_one_out, {"utility": "brier"}, "`utility='brier'` does not go with `leave_one_out`, which takes `accuracy` or `log-loss`"),
    (baselines.leave_one_out, {"task": "clustering"}, "`task` is 'clustering'"),
    (baselines.leave_one_out, {"ridge": -1.0}, "`ridge` is -1"),
    (baselines.leave_one_out, {"kernel": "gaussian"}, r"`kernel` is for densities \(`task='density'`\)"),
    (baselines.leave_one_out, {"test": 3}, "pair of rows and their targets"),
    (baselines.leave_one_out, {"test": (np.zeros((4, 3)), np.zeros(4))}, "the test rows have 3 features"),
    (baselines.d_shapley, {"m": 0}, "`m` is 0"),
    (baselines.d_shapley, {"m": 61}, "so m is at most"),
    (baselines.d_shapley, {"samples": 1}, "`samples=1` is not possible: at least 2 iterations"),
    (baselines.d_shapley, {"stop": 1.0}, "`stop` is 1"),
    (baselines.d_shapley, {"seed": -1}, "`seed` is -1"),
    (baselines.d_shapley, {"n_jobs": 0}, "`n_jobs` is 0"),
    (baselines.exact_shapley, {}, "`tmc_shapley` estimates the same values"),
    (baselines.knn_shapley, {"k": 0}, "`k` is 0"),
])  # fmt: skip
def test_refusals_are_errors_of_dshap(function, keywords, words):
    X, y = dshap.datasets.gaussian_r(60, 2, seed=1)
    with pytest.raises(DshapError, match=words):
        function(X, y, **keywords)


def test_a_density_has_no_target_and_a_prediction_one():
    X, y = dshap.datasets.gaussian_r(30, 2, seed=1)
    with pytest.raises(InputError, match="leave y out"):
        baselines.leave_one_out(X, y, task="density")
    with pytest.raises(InputError, match="requires y"):
        baselines.leave_one_out(X, task="regression")
