"""Inputs that are not a table of numbers and categories are refused, with advice."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dshap import DshapError, DshapWarning, FileError, InputError, RegressionValuer

N = 40


@pytest.fixture
def frame():
    rng = np.random.default_rng(2)
    return pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N)})


@pytest.fixture
def y(frame):
    return frame["a"].to_numpy() + np.random.default_rng(3).normal(size=N)


DAYS = pd.date_range("2024-01-01", periods=N)

#: Columns of dates and durations, in several types.
TIMES = {
    "dates": DAYS.to_series(index=range(N)),
    "dates with a zone": DAYS.tz_localize("Europe/Rome").to_series(index=range(N)),
    "dates of pyarrow with a zone": pd.Series(DAYS.tz_localize("UTC")).astype("timestamp[us, tz=UTC][pyarrow]"),
    "days of pyarrow": pd.Series(DAYS.date).astype("date32[pyarrow]"),
    "objects": pd.Series(DAYS.date, dtype=object),
    "periods": DAYS.to_period("D").to_series(index=range(N)),
    "durations": pd.Series(pd.to_timedelta(np.arange(N), "h")),
    "durations of pyarrow": pd.Series(pd.to_timedelta(np.arange(N), "h")).astype("duration[us][pyarrow]"),
    "objects of durations": pd.Series([datetime.timedelta(hours=i) for i in range(N)], dtype=object),
}


@pytest.mark.parametrize("kind", TIMES)
def test_time_is_no_feature(kind, frame, y):
    advice = "such as hours" if "durations" in kind else "such as days since a fixed date"
    with pytest.raises(InputError, match=advice) as caught:
        RegressionValuer().fit(frame.assign(when=TIMES[kind]), y)
    assert "when" in str(caught.value)


@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize("what", ["y", "sample_weight"])
def test_time_is_no_target_and_no_weight(what, kind, frame, y):
    given = {"y": y, what: TIMES[kind]}
    with pytest.raises(InputError, match=f"{what}.* holds (dates or times|lengths of time).*give numbers"):
        RegressionValuer().fit(frame, **given)
    with pytest.raises(InputError, match=f"{what}.* holds (dates or times|lengths of time).*give numbers"):
        RegressionValuer().fit(frame, **{**given, what: TIMES[kind].to_numpy()})


@pytest.mark.parametrize("column", [pl.date_range, pl.datetime_range])
def test_time_of_polars(column, frame, y):
    days = pl.select(column(datetime.date(2024, 1, 1), datetime.date(2024, 2, 9), eager=False)).to_series()
    X = pl.from_pandas(frame)
    for given in (X.with_columns(days.alias("t")), X.with_columns((days - days[0]).alias("t"))):
        with pytest.raises(InputError, match="column `t` holds (date|duration) values"):
            RegressionValuer().fit(given, y)
    for given in (days, days - days[0], days.dt.cast_time_unit("us") if column is pl.datetime_range else days):
        with pytest.raises(InputError, match="y holds (dates or times|lengths of time)"):
            RegressionValuer().fit(X, given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda f: f["a"], r"2-dimensional container.*X.to_frame\(\)"),
        (lambda f: f["a"].index, r"2-dimensional container.*X.to_frame\(\)"),
        (lambda f: pl.Series(f["a"].to_numpy()), r"2-dimensional container.*X.to_frame\(\)"),
        (lambda f: pa.array(f["a"].to_numpy()), r"2-dimensional container.*pa.table"),
        (lambda f: pa.chunked_array([f["a"].to_numpy()]), r"2-dimensional container.*pa.table"),
        (lambda f: pl.from_pandas(f).lazy(), r"X.collect\(\)"),
        (lambda f: [[1.0, 2.0], [3.0]] * (N // 2), "rows of different lengths"),
        (lambda f: [[1.0, {"a": 1}]] * N, "X holds something that is not a number: .*dict"),
        (lambda f: f.set_axis(["a", 1], axis=1), "all input features have string names"),
        (lambda f: f.to_numpy().astype(str), "X holds text.*astype"),
        (lambda f: f.to_numpy().astype(str).astype(object), r"X\[0, 0\] is text.*astype"),
        (lambda f: f.astype(str), "holds the number `.*` as text"),
        (lambda f: pl.from_pandas(f.astype(str)), "holds the number `.*` as text"),
        (lambda f: pl.DataFrame(), r"0 feature\(s\) \(shape=\(0, 0\)\)"),
        (lambda f: f[[]], r"0 feature\(s\)"),
        (lambda f: f.to_numpy() + 1j, "Complex data not supported"),
        (lambda f: None, "Expected 2D array, got 0D"),
        (lambda f: pa.Table.from_pandas(f).append_column("a", [f["a"].to_numpy()]), "give each column a different name$"),
        (lambda f: f.assign(c=[object()] * N), "X cannot be read"),
        (lambda f: f.assign(c=pd.cut(f["a"], 3)), r"X\['c'\] holds intervals.*astype\(str\)"),
        (lambda f: pl.from_pandas(f).with_columns(c=pl.lit(None)), "column `c` of X has no value at all; leave it out"),
    ],
)
def test_what_is_no_table(given, words, frame, y):
    X = given(frame)
    for act in (lambda: RegressionValuer().fit(X, y), lambda: RegressionValuer().fit(frame, y).value(X, y)):
        with pytest.raises(InputError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            act()
    with pytest.raises(InputError, match=words):
        RegressionValuer().fit(X, y)


@pytest.mark.parametrize("empty", [pl.DataFrame, pa.table, pd.DataFrame])
def test_no_rows(empty, y):
    with pytest.raises(InputError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1") as caught:
        RegressionValuer().fit(empty({"a": np.zeros(0), "b": np.zeros(0)}), y[:0])
    assert "header" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda y: y.astype(str), "y holds text.*astype"),
        (lambda y: y.astype(str).astype(object), r"y\[0\] is text"),
        (lambda y: pd.Series(y).astype("string"), r"y\[0\] is text"),
        (lambda y: pl.Series(y).cast(pl.String), "y holds text, such as '"),
        (lambda y: [{"a": 1}] * N, "y holds something that is not a number"),
        (lambda y: [[1.0], [1.0, 2.0]] * (N // 2), "y should be a 1d array"),
        (lambda y: pl.LazyFrame({"y": y}), r"y.collect\(\)"),
        (lambda y: y + 1j, "Complex data not supported"),
    ],
)
def test_what_is_no_target(given, words, frame, y):
    with pytest.raises(InputError, match=words):
        RegressionValuer().fit(frame, given(y))


@pytest.mark.parametrize("kind", ["pandas", "polars", "NumPy"])
def test_a_row_without_a_target_is_left_out(kind, frame, y):
    X = {"pandas": frame, "polars": pl.from_pandas(frame), "NumPy": frame.to_numpy()}[kind]
    gap = y.copy()
    gap[7] = np.nan
    with pytest.warns(DshapWarning, match="1 reference row has no target"):
        values = RegressionValuer().fit(X, gap).value_training()
    assert np.isnan(values).tolist() == [row == 7 for row in range(N)]
    others = np.arange(N) != 7
    kept = RegressionValuer().fit(frame[others], y[others]).value_training()
    np.testing.assert_allclose(values[others], kept, rtol=1e-9)


@pytest.mark.parametrize("kind", ["pandas", "polars", "NumPy"])
@pytest.mark.parametrize(("cell", "words"), [(np.nan, "has no value"), (np.inf, "holds `inf`, which is not finite")])
def test_bad_cells_are_placed_where_they_are(cell, words, kind, frame, y):
    X = {"pandas": frame, "polars": pl.from_pandas(frame), "NumPy": frame.to_numpy()}[kind]
    bad = y.copy()
    bad[7] = cell
    valuer = RegressionValuer().fit(X, y)
    # Rows without a target are left out.
    for target in (bad, pd.Series(bad, name="price")) if cell == np.inf else ():
        for act in (lambda: RegressionValuer().fit(X, target), lambda: valuer.value(X, target)):
            with pytest.raises(InputError, match=f"^`y` row 7 {words}"):
                act()
    weights = np.ones(N)
    weights[5] = cell
    with pytest.raises(InputError, match=f"^`sample_weight` row 5 {words}"):
        RegressionValuer().fit(X, y, sample_weight=weights)
    weights[5] = -2
    with pytest.raises(InputError, match="^`sample_weight` row 5 holds -2.0; a weight is 0 or between"):
        RegressionValuer().fit(X, y, sample_weight=weights)


def test_words_of_the_command_line_stay_there(frame, y, tmp_path):
    text = [f"id {i}" for i in range(N)]
    valuer = RegressionValuer().fit(frame, y)
    acts = [
        lambda: RegressionValuer().fit(frame.assign(id=text), y),
        lambda: RegressionValuer(categorical=["a"]).fit(frame, y),
        lambda: RegressionValuer().fit(frame.assign(c=["1,5", "2,5"] * (N // 2)), y),
        lambda: RegressionValuer().fit(frame.assign(c=["1", "2", "3", "x"] * (N // 4)), y),
        lambda: valuer.value(frame.assign(a=text), y),
        lambda: valuer.value(frame.assign(a=np.inf), y),
        lambda: valuer.save(tmp_path / "no" / "v.dshap"),
        lambda: RegressionValuer.load(tmp_path / "v.dshap"),
        lambda: RegressionValuer.load(tmp_path),
        lambda: RegressionValuer(dependent="error").fit(frame.assign(c=1.0), y),
        lambda: RegressionValuer(missing="mean").fit(frame.assign(c=np.nan), y),
    ]
    for act in acts:
        with pytest.raises(DshapError) as caught:
            act()
        message = str(caught.value)
        for word in ("--", "id='", "header", "Parquet", "mkdir -p", "file cut short", "the command", "text column", "ls -l"):
            assert word not in message, message
        if not isinstance(caught.value, FileError):
            assert "hint" in message, message
