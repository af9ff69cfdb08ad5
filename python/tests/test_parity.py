"""The same bits as the command line: one engine, two front ends."""

import numpy as np
import pandas as pd
import pytest
from conftest import assert_same_bits, column

from dshap import RegressionValuer

#: Parameters, and the same as flags.
METHODS = {
    "gaussian": ({}, []),
    "sizes": ({"m": 300, "q": 9}, ["--m", 300, "--q", 9]),
    "no intercept": ({"intercept": False}, ["--no-intercept"]),
    "refit intercept": ({"refit_intercept": True}, ["--refit-intercept"]),
    "theorem": ({"constant": "theorem"}, ["--constant", "theorem"]),
    "full": ({"constant": "full:2.5"}, ["--constant", "full:2.5"]),
    "printed": ({"convention": "printed"}, ["--convention", "printed"]),
    "calibrated": ({"method": "calibrated"}, ["--method", "calibrated"]),
    "lower": ({"method": "lower", "q": 200}, ["--method", "lower", "--q", 200]),
    "upper": (
        {"method": "upper", "q": 300, "bound_c": 0.4, "bound_C": 1.5},
        ["--method", "upper", "--q", 300, "--bound-c", 0.4, "--bound-C", 1.5],
    ),
    "ridge bound": (
        {"method": "lower", "ridge": 2.0, "q": 300},
        ["--method", "lower", "--ridge", 2.0, "--q", 300],
    ),
    "general": (
        {"method": "general", "samples": 64, "seed": 5, "m": 60},
        ["--method", "general", "--samples", 64, "--seed", 5, "--m", 60],
    ),
    "ridge": (
        {"method": "general", "ridge": 3.0, "samples": 40, "m": 50},
        ["--method", "general", "--ridge", 3.0, "--samples", 40, "--m", 50],
    ),
    "algorithm-3": (
        {"method": "algorithm-3", "samples": 20, "seed": 2, "stop": 0.01, "stop_draws": 0.1},
        ["--method", "algorithm-3", "--samples", 20, "--seed", 2, "--stop", 0.01, "--stop-draws", 0.1],
    ),
}

PARTS = ["value", "potential", "penalty", "dist_sq", "resid_sq"]

pytestmark = pytest.mark.filterwarnings("ignore::dshap.DshapWarning")


@pytest.fixture
def files(rows, tmp_path):
    """The rows as Parquet: the first 500 a reference, the rest points."""
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(t=y)
    for name, part in [("all", frame), ("reference", frame[:500]), ("points", frame[500:])]:
        part.to_parquet(tmp_path / f"{name}.parquet")
    return {name: tmp_path / f"{name}.parquet" for name in ("all", "reference", "points")}


@pytest.mark.parametrize("case", METHODS)
def test_rows_against_each_other(case, rows, files, values_by_command):
    params, flags = METHODS[case]
    found = RegressionValuer(**params).fit(*rows).explain_training()
    expected = values_by_command(files["all"], "--target", "t", *flags)
    for part in PARTS:
        if part in expected.column_names:
            assert_same_bits(getattr(found, part), column(expected, part))
        else:
            assert getattr(found, part) is None


@pytest.mark.parametrize("case", METHODS)
def test_points_against_a_reference(case, rows, files, values_by_command):
    (X, y), (params, flags) = rows, METHODS[case]
    valuer = RegressionValuer(**params).fit(X[:500], y[:500])
    expected = values_by_command(files["points"], "--reference", files["reference"], "--target", "t", *flags)
    assert_same_bits(valuer.value(X[500:], y[500:]), column(expected, "value"))
    found = valuer.explain(X[500:], y[500:])
    for part in PARTS:
        if part in expected.column_names:
            assert_same_bits(getattr(found, part), column(expected, part))


@pytest.mark.parametrize("case", ["gaussian", "calibrated", "general", "refit intercept"])
def test_standard_errors(case, rows, files, values_by_command):
    (X, y), (params, flags) = rows, METHODS[case]
    valuer = RegressionValuer(**params).fit(X[:500], y[:500])
    expected = values_by_command(
        files["points"], "--reference", files["reference"], "--target", "t", "--stderr", *flags
    )
    assert_same_bits(valuer.standard_errors(X[500:], y[500:]), column(expected, "stderr"))


@pytest.mark.parametrize("case", ["gaussian", "calibrated", "lower"])
def test_weights(case, rows, tmp_path, values_by_command):
    (X, y), (params, flags) = rows, METHODS[case]
    weights = np.random.default_rng(0).gamma(2.0, 1.0, len(y))
    for zeros in (0, 50):
        weights[:zeros] = 0
        path = tmp_path / "weighted.parquet"
        pd.DataFrame(X, columns=list("abcd")).assign(t=y, w=weights).to_parquet(path)
        expected = values_by_command(path, "--target", "t", "--weight", "w", *flags)
        found = RegressionValuer(**params).fit(X, y, sample_weight=weights).value_training()
        assert_same_bits(found, column(expected, "value"))


@pytest.mark.parametrize("missing", ["drop", "mean"])
@pytest.mark.parametrize("method", ["gaussian", "calibrated"])
def test_mixed_frames_with_missing_cells(missing, method, mixed, tmp_path, values_by_command):
    X, y = mixed
    path = tmp_path / "mixed.parquet"
    X.assign(price=y).to_parquet(path)
    words = [path, "--target", "price", "--missing", missing, "--method", method, "--categorical", "size"]
    expected = values_by_command(*words)
    found = RegressionValuer(method, missing=missing).fit(X, y).explain_training()
    for part in PARTS:
        assert_same_bits(getattr(found, part), column(expected, part))
    assert np.isnan(found.value).sum() == (2 if missing == "drop" else 0)
    assert list(found.note) == expected["note"].to_pylist()


@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_arrays_with_missing_cells(missing, rows, tmp_path, values_by_command):
    X, y = rows
    X[[3, 77], [0, 2]] = np.nan
    path = tmp_path / "gaps.parquet"
    pd.DataFrame(X, columns=list("abcd")).assign(t=y).to_parquet(path)
    expected = values_by_command(path, "--target", "t", "--missing", missing)
    found = RegressionValuer(missing=missing).fit(X, y)
    assert_same_bits(found.value_training(), column(expected, "value"))
    reference = tmp_path / "reference.parquet"
    pd.DataFrame(X[:400], columns=list("abcd")).assign(t=y[:400]).to_parquet(reference)
    expected = values_by_command(path, "--reference", reference, "--target", "t", "--missing", missing)
    assert_same_bits(found.fit(X[:400], y[:400]).value(X, y), column(expected, "value"))


@pytest.mark.parametrize("case", METHODS)
def test_valuers_saved_here_are_used_there(case, rows, files, tmp_path, values_by_command):
    (X, y), (params, _) = rows, METHODS[case]
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    valuer = RegressionValuer(**params).fit(frame[:500], pd.Series(y[:500], name="t"))
    valuer.save(tmp_path / "t.dshap")
    expected = values_by_command(files["points"], "--valuer", tmp_path / "t.dshap")
    assert_same_bits(valuer.value(frame[500:], y[500:]), column(expected, "value"))


@pytest.mark.parametrize("case", METHODS)
def test_valuers_saved_there_are_used_here(case, rows, files, tmp_path, command, values_by_command):
    (X, y), (params, flags) = rows, METHODS[case]
    path = tmp_path / "t.dshap"
    command("fit", files["reference"], "--target", "t", "-o", path, *flags)
    valuer = RegressionValuer.load(path)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    expected = values_by_command(files["points"], "--valuer", path)
    assert_same_bits(valuer.value(frame[500:], y[500:]), column(expected, "value"))
    asked = RegressionValuer(**params).get_params()
    loaded = valuer.get_params()
    for name in params:
        assert loaded[name] == asked[name], name
    # The same file as a fit here would write, except for the history of its rows.
    again = RegressionValuer(**params).fit(frame[:500], pd.Series(y[:500], name="t"))
    assert_same_bits(again.value(frame, y), valuer.value(frame, y))


def test_updates_and_merges(rows, files, tmp_path, command, values_by_command):
    X, y = rows
    command("fit", files["reference"], "--target", "t", "-o", tmp_path / "first.dshap")
    command("update", tmp_path / "first.dshap", files["points"], "-o", tmp_path / "updated.dshap")
    expected = values_by_command(files["all"], "--valuer", tmp_path / "updated.dshap")
    valuer = RegressionValuer().partial_fit(X[:500], y[:500]).partial_fit(X[500:], y[500:])
    assert_same_bits(valuer.value(X, y), column(expected, "value"))
    assert valuer.m_ == 700

    command("fit", files["points"], "--target", "t", "-o", tmp_path / "second.dshap")
    command("merge", tmp_path / "first.dshap", tmp_path / "second.dshap", "-o", tmp_path / "merged.dshap")
    expected = values_by_command(files["all"], "--valuer", tmp_path / "merged.dshap")
    parts = [RegressionValuer().fit(X[:500], y[:500]), RegressionValuer().fit(X[500:], y[500:])]
    assert_same_bits(parts[0].merge(parts[1]).value(X, y), column(expected, "value"))
    assert parts[0].n_rows_ == 500, "a merge leaves its parts alone"


@pytest.mark.parametrize("late", [False, True])
def test_hard_designs(late, tmp_path, values_by_command):
    """Columns that are nearly the same, from the first row on or only after the first block."""
    rng = np.random.default_rng(8)
    common = 1e6 * rng.normal(size=9000) * (np.arange(9000) >= (4096 if late else 0))
    X = common[:, None] + rng.normal(size=(9000, 2))
    y = X[:, 0] - X[:, 1] + rng.normal(size=9000)
    pd.DataFrame(X, columns=["a", "b"]).assign(t=y).to_parquet(tmp_path / "all.parquet")
    expected = column(values_by_command(tmp_path / "all.parquet", "--target", "t"), "value")
    for array in (X, np.asfortranarray(X), pd.DataFrame(X)):
        assert_same_bits(RegressionValuer().fit(array, y).value_training(), expected)
    # Sums of products would leave few digits: y is a difference of 1e-6 of the columns.
    assert RegressionValuer().fit(X, y).noise_var_ == pytest.approx(1, rel=0.1)
