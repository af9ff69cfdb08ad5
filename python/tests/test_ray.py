"""Rows in a Ray dataset, on a local cluster, and the recipe for Dask. `./test ray` runs this file."""

import numpy as np
import pytest

pytest.importorskip("ray", reason="Ray is not installed: ./test ray installs it")
pa = pytest.importorskip("pyarrow")
import ray  # noqa: E402

import dshap  # noqa: E402
import dshap.ray as on_ray  # noqa: E402

N = 9000


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    u, v = rng.normal(size=(2, N))
    city = np.array(["a", "b", "c"])[rng.integers(0, 3, N)]
    y = u - v + (city == "b") + rng.normal(size=N)
    return pa.table({"row": np.arange(N), "u": u, "v": v, "city": city, "y": y, "label": np.where(y > 0, "yes", "no")})


def by_row(dataset):
    table = pa.concat_tables(ray.get(dataset.to_arrow_refs())).sort_by("row")
    return table["value"].to_numpy()


@pytest.mark.parametrize("target", ["y", "label"])
def test_values_are_those_of_one_machine(rows, target):
    features = ["u", "v", "city"]
    dataset = ray.data.from_arrow([rows.slice(start, 2000) for start in range(0, N, 2000)])
    kind = dshap.RegressionValuer if target == "y" else dshap.ClassificationValuer
    one = kind().fit(rows.select(features), rows[target].to_pylist())
    valuer = on_ray.fit(dataset, target, features=features)
    found, expected = by_row(on_ray.value(dataset, valuer, leave_one_out=True)), one.value_training()
    assert np.abs(found - expected).max() <= 1e-12 * np.ptp(expected)
    same = on_ray.fit(dataset, target, features=features, row="row")
    assert np.array_equal(by_row(on_ray.value(dataset, same, leave_one_out=True)), expected)


def test_two_numbers_are_labels_as_elsewhere(rows):
    two = rows.append_column("two", pa.array([0.0 if label == "no" else 1.0 for label in rows["label"].to_pylist()]))
    dataset = ray.data.from_arrow([two.slice(start, 2000) for start in range(0, N, 2000)])
    assert isinstance(on_ray.fit(dataset, "two", features=["u", "v"]), dshap.ClassificationValuer)
    assert isinstance(on_ray.fit(dataset, "y", features=["u", "v"]), dshap.RegressionValuer)
    with pytest.raises(dshap.InputError, match="`task` is 'forest'"):
        on_ray.fit(dataset, "y", features=["u", "v"], task="forest")


def test_a_column_that_exists_is_not_overwritten(rows):
    dataset = ray.data.from_arrow(rows.append_column("value", rows["y"]))
    valuer = on_ray.fit(dataset, "y", features=["u", "v"])
    with pytest.raises(dshap.InputError, match="a column `value` already"):
        on_ray.value(dataset, valuer)
    found = on_ray.value(dataset, valuer, value_column="worth").take(1)[0]
    assert "worth" in found


def test_a_bad_cell_is_named(rows):
    column = rows["u"].to_pylist()
    column[77] = None
    dataset = ray.data.from_arrow(rows.set_column(1, "u", pa.array(column, pa.float64())))
    with pytest.raises(dshap.InputError, match="`u`"):
        on_ray.fit(dataset, "y", features=["u", "v"])


def test_the_recipe_for_dask(rows):
    """The passes of `docs/spark.md` by hand: a state per partition, merged."""
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    import dask

    frame = dd.from_pandas(rows.to_pandas()[["u", "v", "y"]], npartitions=5)
    states = [dask.delayed(lambda part: dshap.RegressionValuer().fit(part[["u", "v"]], part["y"]))(part) for part in frame.to_delayed()]
    first, *others = dask.compute(*states)
    whole = first.merge(*others)
    one = dshap.RegressionValuer().fit(rows.select(["u", "v"]), rows["y"].to_numpy())
    meta = frame._meta.assign(value=1.0)
    values = frame.map_partitions(lambda part: part.assign(value=whole.value(part[["u", "v"]], part["y"])), meta=meta)
    expected = one.value(rows.select(["u", "v"]), rows["y"].to_numpy())
    assert np.abs(values.compute()["value"].to_numpy() - expected).max() <= 1e-12 * np.ptp(expected)
