"""A category is the same level however it is given, also in files."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import assert_same_bits, column

from dshap import InputError, RegressionValuer
from dshap.baselines import leave_one_out

pytestmark = pytest.mark.filterwarnings("ignore")

#: The same column of whole numbers.
NUMBERS = {
    "pandas integers": lambda size, area: pd.DataFrame({"size": size, "area": area}),
    "NumPy integers": lambda size, area: np.column_stack([size, area]),
    "NumPy doubles": lambda size, area: np.column_stack([size, area]).astype(float),
    "pandas doubles": lambda size, area: pd.DataFrame({"size": size.astype(float), "area": area}),
    "pandas single precision": lambda size, area: pd.DataFrame({"size": size.astype("f4"), "area": area}),
    "pandas nullable": lambda size, area: pd.DataFrame({"size": pd.array(size, dtype="Int8"), "area": area}),
    "pandas categories": lambda size, area: pd.DataFrame({"size": pd.Categorical(size), "area": area}),
    "pandas categories of doubles": lambda size, area: pd.DataFrame(
        {"size": pd.Categorical(size.astype(float)), "area": area}
    ),
    "pandas text": lambda size, area: pd.DataFrame({"size": size.astype(str), "area": area}),
    "pandas text of doubles": lambda size, area: pd.DataFrame({"size": size.astype(float).astype(str), "area": area}),
    "polars integers": lambda size, area: pl.DataFrame({"size": size, "area": area}),
    "polars doubles": lambda size, area: pl.DataFrame({"size": size.astype(float), "area": area}),
    "pyarrow": lambda size, area: pa.table({"size": pa.array(size, pa.uint16()), "area": area}),
    "pyarrow dictionary": lambda size, area: pa.table({"size": pa.array(size).dictionary_encode(), "area": area}),
}

BOOLEANS = {
    "pandas": lambda old, area: pd.DataFrame({"size": old, "area": area}),
    "pandas nullable": lambda old, area: pd.DataFrame({"size": pd.array(old, dtype="boolean"), "area": area}),
    "pandas categories": lambda old, area: pd.DataFrame({"size": pd.Categorical(old), "area": area}),
    "pandas text": lambda old, area: pd.DataFrame({"size": old.astype(str), "area": area}),
    "polars": lambda old, area: pl.DataFrame({"size": old, "area": area}),
    "pyarrow": lambda old, area: pa.table({"size": old, "area": area}),
}


@pytest.fixture
def cells():
    rng = np.random.default_rng(6)
    size, area = rng.integers(1, 4, 300), rng.integers(20, 90, 300)
    return size, area, area + 10 * size + rng.normal(0, 5, 300)


def meet(routes, cells):
    """Fits with the first form and values with each of them."""
    *columns, y = cells
    first = next(iter(routes.values()))(*columns)
    for unseen in ("error", "zero"):
        valuer = RegressionValuer(categorical=["size"], unseen=unseen).fit(first, y)
        for given in routes.values():
            assert_same_bits(valuer.value(given(*columns), y), valuer.value(first, y))
    return valuer


def test_whole_numbers_meet_whatever_the_route(cells):
    size, area, y = cells
    valuer = meet(NUMBERS, cells)
    assert valuer.columns_ == ["size=2", "size=3", "area"]
    expected = valuer.value_training()
    for route, given in NUMBERS.items():
        valuer = RegressionValuer(categorical=[0]).fit(given(size, area), y)
        assert [name.partition("=")[2] for name in valuer.columns_] == ["2", "3", ""], route
        assert_same_bits(valuer.value_training(), expected)


def test_booleans_meet_whatever_the_route(cells):
    size, area, y = cells
    valuer = meet(BOOLEANS, (size > 1, area, y))
    assert valuer.columns_ == ["size=true", "area"]
    flags = np.column_stack([size > 1, area > 50])
    assert RegressionValuer(categorical=[0]).fit(flags, y).columns_ == ["column_0=true", "column_1"]


def test_large_whole_numbers_are_told_apart_whatever_the_route(cells):
    size, area, y = cells
    ids = 2**62 + size
    for given in (np.column_stack([ids, area]), pd.DataFrame({"a": ids, "b": area}), pl.DataFrame({"a": ids, "b": area})):
        valuer = RegressionValuer(categorical=[0]).fit(given, y)
        assert [name.partition("=")[2] for name in valuer.columns_[:2]] == [str(2**62 + 2), str(2**62 + 3)]


@pytest.mark.parametrize("form", ["csv", "csv of doubles", "parquet", "parquet of doubles", "ndjson", "npy"])
def test_files_and_frames_meet(form, cells, tmp_path, command, values_by_command):
    size, area, y = cells
    frame = pd.DataFrame({"size": size, "area": area, "y": y})
    doubles = frame.assign(size=frame["size"].astype(float))
    path = tmp_path / f"all.{form.split()[0]}"
    names = ["size", "area"]
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "csv of doubles":
        doubles.to_csv(path, index=False)
    elif form.startswith("parquet"):
        (doubles if "doubles" in form else frame).to_parquet(path)
    elif form == "ndjson":
        doubles.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        np.save(path, doubles.to_numpy())
        names = ["column_0", "column_1"]
    target = "y" if form != "npy" else "column_2"
    command("fit", path, "--target", target, "--categorical", names[0], "-o", tmp_path / "v.dshap", "--quiet")
    valuer = RegressionValuer.load(tmp_path / "v.dshap")
    assert valuer.columns_ == [f"{names[0]}=2", f"{names[0]}=3", names[1]]
    own = RegressionValuer(categorical=["size"]).fit(frame[["size", "area"]], frame["y"])
    exact = form != "ndjson"  # which pandas writes with fifteen digits
    compare = assert_same_bits if exact else lambda one, two: np.testing.assert_allclose(one, two, rtol=1e-9)
    for X in (frame[["size", "area"]], doubles[["size", "area"]], pl.from_pandas(frame[["size", "area"]])):
        given = X if names[0] == "size" else np.asarray(X)
        compare(valuer.value(given, y), own.value(X, y))
    own_file = tmp_path / "own.dshap"
    RegressionValuer(categorical=[0]).fit(
        doubles[["size", "area"]].set_axis(names, axis=1), doubles["y"].rename(target)
    ).save(own_file)
    expected = column(values_by_command(path, "--valuer", own_file), "value")
    compare(own.value(frame[["size", "area"]], y), expected)


def test_text_that_is_no_plain_number_keeps_its_spelling(cells):
    _, area, y = cells
    version = np.resize(["1.1", "1.10", "01"], len(y))
    valuer = RegressionValuer(categorical=["v"]).fit(pd.DataFrame({"v": version, "area": area}), y)
    assert valuer.columns_ == ["v=1.1", "v=1.10", "area"]


def test_missing_categories_are_missing(cells):
    size, area, y = cells
    X = np.column_stack([size, area]).astype(float)
    X[3, 0] = np.nan
    with pytest.raises(InputError, match="`X` row 3, column `column_0` has no value"):
        RegressionValuer(categorical=[0]).fit(X, y)
    filled = RegressionValuer(categorical=[0], missing="mean").fit(X, y)
    assert filled.columns_ == ["column_0=2", "column_0=3", "column_1"]
    X[3, 0] = np.inf
    with pytest.raises(InputError, match="row 3, column `column_0` holds `inf`, which is not finite"):
        RegressionValuer(categorical=[0]).fit(X, y)


def test_what_is_a_category_is_remembered_in_the_file(cells, tmp_path):
    size, area, y = cells
    path = tmp_path / "v.dshap"
    for X, categorical in [
        (np.column_stack([size, area]), [0]),
        (pd.DataFrame({"size": size, "area": area}), ["size"]),
        (pd.DataFrame({"size": size, "area": area}), None),
    ]:
        RegressionValuer(categorical=categorical).fit(X, y).save(path)
        again = RegressionValuer.load(path)
        assert again.categorical == categorical
        assert again.fit(X, y).columns_ == RegressionValuer(categorical=categorical).fit(X, y).columns_


def test_rare_levels_are_pooled_and_come_back(cells, tmp_path):
    size, area, price = cells
    names = np.array(["one", "two", "three"])[size - 1].astype(object)
    names[:3] = ["rare", "rarer", "rarest"]
    pooled = names.copy()
    pooled[:3] = "other"
    frame = pd.DataFrame({"size": names, "area": area})
    valuer = RegressionValuer(rare_levels=2).fit(frame, price)
    expected = RegressionValuer().fit(frame.assign(size=pooled), price)
    assert_same_bits(valuer.value_training(), expected.value_training())
    valuer.save(tmp_path / "sizes.dshap")
    loaded = RegressionValuer.load(tmp_path / "sizes.dshap")
    assert loaded.rare_levels == 2
    by_refits = leave_one_out(frame, price, test=(frame, price), rare_levels=2)
    other = frame.assign(size=pooled)
    assert_same_bits(by_refits.value, leave_one_out(other, price, test=(other, price)).value)
    new = pd.DataFrame({"size": ["unheard of"], "area": [50]})
    assert_same_bits(loaded.value(new, [70.0]), valuer.value(new.assign(size="rarer"), [70.0]))
