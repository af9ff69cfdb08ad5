"""The results of `explain`, and frames of the kind that was given."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import assert_same_bits

from dshap import Groups, InputError, RegressionValuer, Values
from dshap.datasets import gaussian_r


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
    assert frame.columns.tolist() == ["owner", "total", "stderr", "mean", "n_rows", "n_negative"]
    assert "ann" in repr(groups) and "<table" in groups._repr_html_()
    with pytest.raises(InputError, match="700 values"):
        values.by(["ann"])


def test_frames_have_the_columns_of_the_command_line(values):
    columns = ["row", "value", "stderr", "potential", "penalty", "dist_sq", "resid_sq", "predicted", "residual", "note"]
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


def test_owners_stay_what_they_are(rows):
    values = RegressionValuer().fit(*rows).explain_training()
    for owners in ([1, "1"], [("a", 1), ("a", 2)], [True, "True"]):
        groups = values.by(owners * 350)
        assert len(groups) == 2 and set(groups.owner) == set(owners)
        assert [type(owner) for owner in groups.owner] == [type(groups.owner[0]), type(groups.owner[1])]
        assert groups.n_rows.tolist() == [350, 350]
    text = values.by(pd.Series(["ann", "bob"] * 350, dtype="category"))
    assert_same_bits(np.sort(text.total), np.sort(values.by(pl.Series(["ann", "bob"] * 350)).total))
    assert values.by(np.arange(700) % 3).owner.dtype.kind == "i"
    mixed = values.by([1, "1"] * 350)
    assert mixed.to_polars()["owner"].to_list() == mixed.owner.tolist() == mixed.to_pandas()["owner"].tolist()
    with pytest.raises(InputError, match="to_pandas"):
        mixed.to_arrow()
    with pytest.raises(InputError, match="cannot be told apart"):
        values.by([["a"], ["b"]] * 350)


@pytest.mark.parametrize(
    "owners",
    [
        lambda o: o + [None, "x"],
        lambda o: o + [np.nan, "x"],
        lambda o: pd.Series(o + [pd.NA, "x"], dtype="string"),
        lambda o: pd.Series(o + [None, "x"], dtype="category"),
        lambda o: pl.Series(o + [None, "x"]),
        lambda o: pa.array(o + [None, "x"]),
        lambda o: np.array([1.0] * 698 + [np.nan, 2.0]),
        lambda o: pd.Series([pd.Timestamp("2020-01-01")] * 698 + [pd.NaT] + [pd.Timestamp("2021-01-01")]),
    ],
)
def test_rows_without_an_owner_are_refused(owners, values):
    with pytest.raises(InputError, match="1 of 700 rows have no owner, the first of them row 698.*fillna"):
        values.by(owners(["ann", "bob"] * 349))


def test_owners_in_another_order_are_refused(rows):
    X, y = rows
    frame = pd.DataFrame(X, index=np.arange(700) + 5)
    values = RegressionValuer().fit(frame, y).explain_training()
    owner = pd.Series(["ann"] * 350 + ["bob"] * 350, index=frame.index)
    assert len(values.by(owner)) == 2
    with pytest.raises(InputError, match=r"owner.loc\[X.index\]"):
        values.by(owner.iloc[::-1])


@pytest.mark.parametrize("k", [-1, 1.5, "x", True])
def test_numbers_of_rows_that_make_no_sense(k, values):
    for act in (values.top, values.bottom):
        with pytest.raises(InputError, match="`k` is"):
            act(k)
    assert len(values.top(0)) == 0 and len(values.top(10**9)) == 700


@pytest.mark.parametrize("bins", [0, -3, 2.5, "many"])
def test_bins_that_make_no_sense(bins, values):
    with pytest.raises(InputError, match="`bins` is"):
        values.plot(bins=bins)


def test_arithmetic_gives_arrays(values):
    value = values.value
    for found, expected in [
        (2 * values, 2 * value),
        (values / 4.0, value / 4.0),
        (values + value, value + value),
        (value - values, value - value),
        (values + values, value + value),
        (-values, -value),
        (np.abs(values), np.abs(value)),
        (np.add.reduce(values), np.add.reduce(value)),
    ]:
        assert not isinstance(found, Values)
        assert_same_bits(np.atleast_1d(found), np.atleast_1d(expected))
    assert ((values > 0) == (value > 0)).all() and (values > 0).dtype == bool
    assert len(values[values < 0]) == (value < 0).sum()
    with pytest.raises(ValueError, match="broadcast"):
        values + np.ones(3)


def test_the_index_is_shown(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"house {i}" for i in range(len(y))])
    shown = repr(RegressionValuer().fit(frame, y).explain_training())
    assert "house 3" in shown and "index" in shown
    assert shown.splitlines()[1].index("value") == shown.splitlines()[1].rindex("value")
    assert len({len(line) for line in shown.splitlines()[1:-1]}) == 1, "columns stand below each other"
    assert "     row" in repr(RegressionValuer().fit(X, y).explain_training())


class Homes(pd.DataFrame):
    """A user's own class of frames."""

    @property
    def _constructor(self):
        return Homes


def test_frames_of_other_classes_come_back(rows):
    X, y = rows
    homes = Homes(X, columns=list("abcd"), index=np.arange(700) + 5)
    valuer = RegressionValuer().fit(homes, y)
    found = valuer.value(homes, y, as_frame=True)
    assert type(found) is Homes and found.index[0] == 5 and valuer.feature_names_in_.tolist() == list("abcd")
    assert type(valuer.value_training(as_frame=True)) is Homes
    batch = pa.record_batch({name: X[:, j] for j, name in enumerate("abcd")})
    found = valuer.value(batch, y, as_frame=True)
    assert isinstance(found, pa.RecordBatch) and found.num_rows == 700
    assert_same_bits(np.asarray(found["value"]), valuer.value(homes, y))


def test_errors_of_totals_use_the_fit_that_rows_share():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=300)
    valuer = RegressionValuer().fit(X, y)
    points, targets = rng.normal(size=(40, 3)), rng.normal(size=40)
    found = valuer.explain(points, targets, std_error=True)
    assert np.allclose(found.by(np.arange(40)).stderr, found.stderr[found.by(np.arange(40)).owner])
    halves = found.by(np.arange(40) < 20)
    naive = np.sqrt((found.stderr[:20] ** 2).sum())
    assert halves.stderr[list(halves.owner).index(True)] > 1.2 * naive
    # Some rows, in another order, are the same group.
    some = found[np.arange(19, -1, -1)].by(["a"] * 20)
    assert some.stderr[0] == pytest.approx(halves.stderr[list(halves.owner).index(True)])
    assert "stderr" in halves.to_pandas().columns and "stderr" in repr(halves)
    training = valuer.explain_training(std_error=True).by(["a", "b"] * 150)
    assert (training.stderr > 0).all()


def test_totals_without_errors_have_none():
    X, y = gaussian_r(100, 3, seed=5)
    owners = ["a", "b"] * 50
    assert RegressionValuer().fit(X, y).explain_training().by(owners).stderr is None
    weighted = RegressionValuer().fit(X, y, sample_weight=np.ones(100)).explain_training(std_error=True)
    assert weighted.by(owners).stderr is None
    found = RegressionValuer().fit(X, y).explain_training(std_error=True)
    import pickle

    assert pickle.loads(pickle.dumps(found)).by(owners).stderr is None


def test_several_sizes_at_once():
    X, y = gaussian_r(100, 3, seed=5)
    valuer = RegressionValuer().fit(X, y)
    found = valuer.explain(X[:5], y[:5], m=[30, 80], std_error=True)
    assert list(found.at_m) == [30, 80]
    for m in (30, 80):
        one = valuer.explain(X[:5], y[:5], m=m, std_error=True)
        assert np.array_equal(found.at_m[m], one.value) and np.array_equal(found.stderr_at_m[m], one.stderr)
    assert np.array_equal(found.value, found.at_m[30])
    assert np.array_equal(found[2:4].at_m[80], found.at_m[80][2:4])
    assert list(found.to_pandas().columns)[:5] == ["row", "value", "stderr", "value_m30", "stderr_m30"]
    for wrong in ([30, 30], [], [0], [30, "x"]):
        with pytest.raises((InputError, TypeError)):
            valuer.explain(X[:5], y[:5], m=wrong)
    with pytest.raises((InputError, TypeError)):
        valuer.value(X[:5], y[:5], m=[30, 40])
