"""Engines in this process: polars by its namespace, DuckDB through Arrow."""

import numpy as np
import pyarrow as pa
import pytest

import dshap


@pytest.fixture
def table():
    rng = np.random.default_rng(4)
    u, v = rng.normal(size=(2, 500))
    city = np.array(["a", "b"])[rng.integers(0, 2, 500)]
    return pa.table({"u": u, "v": v, "city": city, "y": u + v + rng.normal(size=500)})


def test_polars_frames_have_a_namespace(table):
    pl = pytest.importorskip("polars", reason="polars is not installed")
    import dshap.polars  # noqa: F401

    df = pl.from_arrow(table)
    one = dshap.RegressionValuer().fit(df.select("u", "v", "city"), df["y"])
    assert np.array_equal(df.dshap.value("y")["value"].to_numpy(), one.value_training())
    found = df.dshap.value(valuer=one, parts=True, std_error=True, value_column="worth")
    expected = one.explain(df.select("u", "v", "city"), df["y"], std_error=True)
    assert np.array_equal(found["worth"].to_numpy(), expected.value)
    assert np.array_equal(found["stderr"].to_numpy(), expected.stderr)
    assert np.array_equal(found["penalty"].to_numpy(), expected.penalty)
    density = df.select("u", "v").dshap.value()
    assert np.array_equal(density["value"].to_numpy(), dshap.DensityValuer().fit(df.select("u", "v")).value_training())
    with pytest.raises(dshap.InputError, match="no column `z`"):
        df.dshap.value("z")
    with pytest.raises(dshap.InputError, match="already"):
        df.rename({"u": "value"}).dshap.value("y")


def test_lazy_frames_come_in_batches(table, monkeypatch):
    pl = pytest.importorskip("polars", reason="polars is not installed")
    import dshap.polars as by_polars

    monkeypatch.setattr(by_polars, "BATCH_ROWS", 100)
    df = pl.from_arrow(table)
    one = dshap.RegressionValuer().fit(df.select("u", "v", "city"), df["y"])
    lazy = df.lazy().with_columns(pl.col("u") * 1.0)
    assert np.array_equal(lazy.dshap.value("y")["value"].to_numpy(), one.value_training())
    fitted = lazy.dshap.fit("y")
    assert np.array_equal(fitted.coef_, one.coef_) and fitted.n_rows_ == 500
    found = lazy.dshap.value(valuer=fitted)
    assert np.array_equal(found["value"].to_numpy(), one.value(df.select("u", "v", "city"), df["y"]))


def test_relations_of_duckdb_are_tables(table):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    connection = duckdb.connect()
    connection.register("rows", table)
    X, y = connection.sql("select u, v, city from rows"), connection.sql("select y from rows")
    one = dshap.RegressionValuer().fit(table.select(["u", "v", "city"]), table["y"].to_numpy())
    valuer = dshap.RegressionValuer().fit(X, y)
    assert np.array_equal(valuer.value_training(), one.value_training())
    some = connection.sql("select u, v, city from rows where u > 0"), connection.sql("select y from rows where u > 0")
    assert len(valuer.value(*some)) == connection.sql("select count(*) from rows where u > 0").fetchall()[0][0]
