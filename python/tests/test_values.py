"""What `explain` returns, and frames of the kind that came in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import assert_same_bits

from dshap import Groups, InputError, RegressionValuer, Values


@pytest.fixture
def values(rows):
    return RegressionValuer().fit(*rows).explain_training(std_error=True)


def test_ranking_top_and_bottom(values):
    order = values.ranking()
    assert sorted(order) == list(range(700))
    assert np.all(np.diff(values.value[order]) <= 0)
    top = values.top(5)
    assert top.row.tolist() == order[:5].tolist() and len(top) == 5
    assert_same_bits(top.resid_sq, values.resid_sq[order[:5]])
    assert values.bottom(3).row.tolist() == order[::-1][:3].tolist()


def test_rows_without_a_value_come_last():
    values = Values({"value": np.array([1.0, np.nan, 3.0, 2.0])}, np.full(4, None), np.arange(4))
    assert values.ranking().tolist() == [2, 3, 0, 1]
    assert values.bottom(2).row.tolist() == [0, 3]


def test_owners(values):
    owner = np.where(np.arange(700) % 3 == 0, "ann", "bob")
    groups = values.by(owner)
    assert isinstance(groups, Groups) and len(groups) == 2
    totals = dict(zip(groups.owner.tolist(), groups.total))
    assert totals["ann"] == pytest.approx(values.value[owner == "ann"].sum())
    assert groups.n_rows.sum() == 700 and groups.total[0] >= groups.total[1]
    assert groups.n_negative.sum() == (values.value < 0).sum()
    frame = groups.to_pandas()
    assert frame.columns.tolist() == ["owner", "total", "mean", "n_rows", "n_negative"]
    assert "ann" in repr(groups) and "<table>" in groups._repr_html_()
    with pytest.raises(InputError, match="700 values"):
        values.by(["ann"])


def test_frames_have_the_columns_of_the_command_line(values):
    columns = ["row", "value", "stderr", "potential", "penalty", "dist_sq", "resid_sq", "note"]
    for frame, names in [
        (values.to_pandas(), lambda f: f.columns.tolist()),
        (values.to_polars(), lambda f: f.columns),
        (values.to_arrow(), lambda f: f.column_names),
    ]:
        assert names(frame) == columns
        assert_same_bits(np.asarray(frame["value"]), values.value)
    assert values.to_polars().schema["note"] == pl.String
    assert values.to_arrow().schema.field("note").type == pa.string()


def test_frames_are_of_the_kind_that_came_in(rows):
    X, y = rows
    names = list("abcd")
    pandas = pd.DataFrame(X, columns=names, index=[f"r{i}" for i in range(len(X))])
    valuer = RegressionValuer().fit(pandas, y)
    out = valuer.value(pandas[:9], y[:9], as_frame=True)
    assert isinstance(out, pd.DataFrame) and out.index.tolist() == pandas.index[:9].tolist()
    assert isinstance(valuer.value_training(as_frame=True), pd.DataFrame)
    assert isinstance(valuer.value(pl.DataFrame(X, schema=names), y, as_frame=True), pl.DataFrame)
    arrow = pa.table({name: X[:, j] for j, name in enumerate(names)})
    assert isinstance(valuer.value(arrow, y, as_frame=True), pa.Table)
    plain = RegressionValuer().fit(X, y)
    assert isinstance(plain.value(X, y, as_frame=True), pd.DataFrame)
    assert isinstance(plain.value(X, y), np.ndarray)


def test_missing_values_are_null_in_arrow_data(rows):
    X, y = rows
    X[4, 0] = np.nan
    with pytest.warns(UserWarning, match="missing cell"):
        values = RegressionValuer(missing="drop").fit(X, y).explain_training()
    assert values.to_arrow()["value"].null_count == 1
    assert values.to_polars()["value"].null_count() == 1
    assert values.to_arrow()["note"].to_pylist()[4] == "missing cell"


def test_an_array_where_an_array_is_expected(values):
    assert_same_bits(np.asarray(values), values.value)
    assert np.mean(values) == values.value.mean()
    assert len(values[:10]) == 10 and values[3].row.tolist() == [3]
    assert len(values[values.value < 0]) == (values.value < 0).sum()


def test_shown_in_a_notebook(values, rows):
    page = values._repr_html_()
    assert page.count("<svg") == 1 and page.count("<tr>") == 1 + 8 + 1
    assert page.count("<rect") > 20 and "% below 0" in page
    assert repr(values).startswith("<Values: 700 rows, values from")
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd"), index=["<b>"] * len(y))
    assert "<b>" not in RegressionValuer().fit(frame, y).explain_training()._repr_html_()


def test_plots(values, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = values.plot(bins=30)
    heights = [bar.get_height() for bar in axes.patches]
    assert sum(heights) == 700
    axes.figure.savefig(tmp_path / "values.png")
    assert (tmp_path / "values.png").stat().st_size > 5000
