"""Every kind of input gives the same values as the array."""

import tempfile
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from conftest import assert_same_bits

from dshap import DshapWarning, InputError, RegressionValuer

pytestmark = pytest.mark.filterwarnings("ignore::dshap.DshapWarning")

NAMES = ["a", "b", "c", "d"]


def strided(X):
    wide = np.empty((2 * len(X), 9))
    wide[::2, 1::2] = X
    return wide[::2, 1::2]


def saved(X):
    path = f"{tempfile.mkdtemp()}/rows.npy"
    np.save(path, X)
    return path


ARRAYS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "columns of a wider array": lambda X: np.hstack([X, X])[:, :4],
    "rows of a longer Fortran array": lambda X: np.asfortranarray(np.vstack([X, X]))[: len(X)],
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "unaligned": lambda X: np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape),
    "big-endian": lambda X: X.astype(">f8"),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "memory map": lambda X: np.load(saved(X), mmap_mode="r"),
}

FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas by columns": lambda X: pd.DataFrame({name: X[:, j].copy() for j, name in enumerate(NAMES)}),
    "pandas nullable": lambda X: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "pandas arrow": lambda X: pd.DataFrame(X, columns=NAMES).astype("float64[pyarrow]"),
    "pandas with an index": lambda X: pd.DataFrame(X, columns=NAMES, index=[f"row {i}" for i in range(len(X))]),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "polars in chunks": lambda X: pl.concat(
        [pl.DataFrame(X[:7], schema=NAMES), pl.DataFrame(X[7:], schema=NAMES)], rechunk=False
    ),
    "pyarrow": lambda X: pa.table({name: X[:, j] for j, name in enumerate(NAMES)}),
    "record batch": lambda X: pa.record_batch({name: X[:, j] for j, name in enumerate(NAMES)}),
}


class Capsule:
    """An object with only the Arrow PyCapsule interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.fixture
def expected(rows):
    X, y = rows
    valuer = RegressionValuer().fit(X, y)
    return valuer.value(X, y), valuer.value_training()


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays(kind, rows, expected):
    X, y = rows
    given = ARRAYS[kind](X)
    valuer = RegressionValuer().fit(given, y)
    assert_same_bits(valuer.value(given, y), expected[0])
    assert_same_bits(valuer.value_training(), expected[1])


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind, rows, expected):
    X, y = rows
    given = FRAMES[kind](X)
    valuer = RegressionValuer().fit(given, y)
    assert_same_bits(valuer.value(given, y), expected[0])
    assert_same_bits(valuer.value_training(), expected[1])
    assert valuer.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("n", [40, 5000])
def test_other_numbers_are_converted(dtype, order, n):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.integers(0, 2 if dtype == "?" else 100, (n, 3)), dtype=dtype, order=order)
    y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(n)
    doubles = RegressionValuer().fit(X.astype(float), y)
    valuer = RegressionValuer().fit(X, y)
    assert_same_bits(valuer.value(X, y), doubles.value(X.astype(float), y))
    assert_same_bits(valuer.value_training(), doubles.value_training())


def test_targets_of_every_kind(rows, expected):
    X, y = rows
    for given in (y.tolist(), pd.Series(y), pl.Series(y), pa.array(y), pa.chunked_array([y[:9], y[9:]]), y.astype(object)):
        assert_same_bits(RegressionValuer().fit(X, given).value(X, given), expected[0])
    whole = np.round(y).astype(int)
    assert_same_bits(RegressionValuer().fit(X, whole).value_training(), RegressionValuer().fit(X, whole.astype(float)).value_training())


def test_anything_with_capsules(rows, expected):
    X, y = rows
    given = Capsule(FRAMES["pyarrow"](X))
    valuer = RegressionValuer().fit(given, y)
    assert_same_bits(valuer.value(given, y), expected[0])
    reader = FRAMES["pyarrow"](X).to_reader()
    assert_same_bits(RegressionValuer().fit(reader, y).value_training(), expected[1])


def test_kinds_may_change_between_fit_and_value(rows, expected):
    X, y = rows
    valuer = RegressionValuer().fit(FRAMES["pandas"](X), y)
    for kind in ("polars", "pyarrow", "pandas arrow"):
        assert_same_bits(valuer.value(FRAMES[kind](X), y), expected[0])


def test_categories_text_and_booleans_are_one_whatever_the_frame(mixed):
    X, y = mixed
    X = X.dropna().reset_index(drop=True).assign(size=lambda f: f["size"].astype(str).astype("category"))
    y = y[: len(X)]
    valuer = RegressionValuer().fit(X, y)
    assert valuer.columns_ == ["area", "city=Oslo", "city=Rome", "new", "size=2", "size=3", "floor"]
    for other in (pl.from_pandas(X), pa.Table.from_pandas(X), pl.from_pandas(X).with_columns(pl.col("city").cast(pl.Categorical))):
        assert_same_bits(RegressionValuer().fit(other, y).value(other, y), valuer.value(X, y))


def test_categories_that_are_numbers(mixed):
    X, y = mixed
    X = X.dropna()
    y = y[X.index]
    assert "size=2" in RegressionValuer().fit(X, y).columns_, "a categorical column is one"
    plain = X.assign(size=X["size"].astype(int))
    assert "size" in RegressionValuer().fit(plain, y).columns_
    named = RegressionValuer(categorical=["size"]).fit(plain, y)
    assert "size=2" in named.columns_
    numbers = plain[["area", "size"]].to_numpy()
    by_number = RegressionValuer(categorical=[1]).fit(numbers, y)
    assert by_number.columns_ == ["column_0", "column_1=2", "column_1=3"]
    with pytest.raises(InputError, match="categorical"):
        RegressionValuer(categorical=["nothing"]).fit(plain, y)


def test_missing_cells_are_an_error_with_a_place(rows, mixed):
    X, y = rows
    X[3, 2] = np.nan
    with pytest.raises(InputError, match=r"`X` row 3, column `column_2` has no value") as caught:
        RegressionValuer().fit(X, y)
    assert "missing='drop'" in str(caught.value)
    frame, target = mixed
    with pytest.raises(InputError, match=r"`X` row 5, column `area` has no value"):
        RegressionValuer().fit(frame, target)
    with pytest.raises(InputError, match=r"`X` row 5, column `area` has no value"):
        RegressionValuer().fit(pl.from_pandas(frame), target)
    nullable = pd.DataFrame({"a": pd.array([1, 2, None] * 5, dtype="Int64"), "b": np.arange(15.0) ** 2})
    with pytest.raises(InputError, match="`X` row 2, column `a` has no value"):
        RegressionValuer().fit(nullable, np.arange(15.0) ** 3)


def test_infinite_cells_are_an_error_with_a_place(rows):
    X, y = rows
    valuer = RegressionValuer().fit(X, y)
    X = X.copy()
    X[9, 1] = np.inf
    for act in (lambda: RegressionValuer().fit(X, y), lambda: valuer.value(X, y), lambda: valuer.value(X[9:10], y[9:10])):
        with pytest.raises(InputError, match=r"row [09], column `column_1`.*inf"):
            act()


def test_rows_left_out_have_no_value_and_a_note(rows):
    X, y = rows
    valuer = RegressionValuer(missing="drop").fit(X, y)
    X = X.copy()
    X[2, 0] = np.nan
    with pytest.warns(DshapWarning, match="1 point row has a missing cell"):
        values = valuer.explain(X, y)
    assert np.isnan(values.value[2]) and values.note[2] == "missing cell"
    X[2, 0] = 0.0
    assert_same_bits(np.delete(values.value, 2), np.delete(valuer.value(X, y), 2))


def test_sparse_matrices_are_refused_with_advice(rows):
    X, y = rows
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_matrix):
        with pytest.raises(InputError, match="sparse.*toarray"):
            RegressionValuer().fit(kind(X), y)
        with pytest.raises(InputError, match="sparse.*toarray"):
            RegressionValuer().fit(X, y).value(kind(X), y)


def test_names_are_checked_between_fit_and_value(rows):
    X, y = rows
    frame = FRAMES["pandas"](X)
    valuer = RegressionValuer().fit(frame, y)
    with pytest.raises(InputError, match="unseen at fit time:\n- z"):
        valuer.value(frame.rename(columns={"a": "z"}), y)
    with pytest.raises(InputError, match="now missing:\n- d"):
        valuer.value(frame[["a", "b", "c"]], y)
    with pytest.raises(InputError, match="same order"):
        valuer.value(frame[["b", "a", "c", "d"]], y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert_same_bits(valuer.value(X, y), valuer.value(frame, y))
    with pytest.raises(InputError, match="X has 3 features, but RegressionValuer is expecting 4"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        valuer.value(X[:, :3], y)


def test_the_target_may_not_be_a_feature_too(rows):
    X, y = rows
    frame = FRAMES["pandas"](X)
    with pytest.raises(InputError, match="X has a column 'a', and y has the same name"):
        RegressionValuer().fit(frame, frame["a"])
    assert RegressionValuer().fit(frame.rename(columns={"a": "y"}), y).n_features_in_ == 4


def test_shapes_that_do_not_fit(rows):
    X, y = rows
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        RegressionValuer().fit(X, y[:-1])
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        RegressionValuer().fit(X, y).value(X[:-1], y)
    with pytest.raises(InputError, match="Expected 2D array"):
        RegressionValuer().fit(X[:, 0], y)
    with pytest.raises(InputError, match="1d array"):
        RegressionValuer().fit(X, np.column_stack([y, y]))
    with pytest.raises(InputError, match="dates"):
        RegressionValuer().fit(np.full((9, 2), np.datetime64("2020-01-01")), np.arange(9))


def test_dates_and_long_text_are_refused_with_advice(rows):
    X, y = rows
    frame = FRAMES["pandas"](X)
    with pytest.raises(InputError, match="column `when` holds date values"):
        RegressionValuer().fit(frame.assign(when=pd.Timestamp("2020-01-01")), y)
    with pytest.raises(InputError, match="more than 256 different values"):
        RegressionValuer().fit(frame.assign(id=[f"row {i % 300}" for i in range(len(y))]), y)


def test_masked_cells_are_missing(rows):
    X, y = rows
    high = X > np.quantile(X, 0.98)
    masked = np.ma.masked_array(np.where(high, 1e6, X), mask=high)
    with pytest.raises(InputError, match="has no value"):
        RegressionValuer().fit(masked, y)
    filled = np.where(high, np.nan, X)
    expected = RegressionValuer(missing="drop").fit(filled, y).value(filled, y)
    assert_same_bits(RegressionValuer(missing="drop").fit(masked, y).value(masked, y), expected)
    assert_same_bits(
        RegressionValuer().fit(np.ma.masked_array(X), np.ma.masked_array(y)).coef_,
        RegressionValuer().fit(X, y).coef_,
    )


def test_targets_in_a_frame(rows):
    X, y = rows
    frame = pd.DataFrame(X)
    expected = RegressionValuer().fit(frame, y).coef_
    assert_same_bits(RegressionValuer().fit(frame, pd.DataFrame({"t": y})).coef_, expected)
    with pytest.raises(InputError, match="one column"):
        RegressionValuer().fit(frame, pd.DataFrame({"t": y, "u": y}))


def test_labels_in_another_order_are_refused(rows):
    X, y = rows
    frame, target = pd.DataFrame(X), pd.Series(y)
    with pytest.raises(InputError, match=r"y.loc\[X.index\]"):
        RegressionValuer().fit(frame, target.sort_values())
    with pytest.raises(InputError, match="sample_weight"):
        RegressionValuer().fit(frame, target, sample_weight=pd.Series(np.ones(len(y))).iloc[::-1])
    # Equal labels, and labels that have nothing in common, go by position.
    shuffled = frame.sample(frac=1, random_state=1)
    RegressionValuer().fit(shuffled, target[shuffled.index])
    RegressionValuer().fit(shuffled, target.set_axis(np.arange(len(y)) + 10_000))


def test_labels_of_columns_that_are_numbers_tell_columns_apart(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=[5, 3, 7, 1])
    valuer = RegressionValuer().fit(frame, y)
    assert not hasattr(valuer, "feature_names_in_") and valuer.columns_ == ["5", "3", "7", "1"]
    with pytest.raises(InputError, match="same order"):
        valuer.value(frame[[1, 3, 5, 7]], y)
    with pytest.raises(InputError, match="unseen at fit time:\n- 9"):
        valuer.value(frame.rename(columns={1: 9}), y)
    expected = valuer.value(frame, y)
    # The numbers 0, 1, 2 and so on do not count as names.
    assert_same_bits(valuer.value(pd.DataFrame(X), y), expected)
    assert_same_bits(valuer.value(X, y), expected)
    plain = RegressionValuer().fit(pd.DataFrame(X), y)
    assert plain.columns_[0] == "column_0"
    with pytest.raises(InputError, match="same order"):
        plain.value(pd.DataFrame(X)[[1, 0, 2, 3]], y)


def test_labels_of_columns_that_are_numbers_last_in_files(rows, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X, columns=[5, 3, 7, 1])
    RegressionValuer().fit(frame, y).save(tmp_path / "v.dshap")
    valuer = RegressionValuer.load(tmp_path / "v.dshap")
    assert_same_bits(valuer.value(frame, y), RegressionValuer().fit(frame, y).value(frame, y))
    with pytest.raises(InputError, match="same order"):
        valuer.value(frame[[1, 3, 5, 7]], y)


def test_categories_are_named_by_label_where_there_are_labels(mixed):
    X, y = mixed
    X = X.dropna()[["area", "floor"]].set_axis([5, 0], axis=1)
    y = y[X.index]
    assert "5" in RegressionValuer(categorical=[0]).fit(X, y).columns_
    with pytest.raises(InputError, match="names 1, which is not a column"):
        RegressionValuer(categorical=[1]).fit(X, y)


def test_other_frames_after_an_array(rows, expected):
    X, y = rows
    valuer = RegressionValuer().fit(X, y)
    for kind in ("pandas", "polars", "pyarrow"):
        with pytest.warns(UserWarning, match="X has feature names, but RegressionValuer was fitted without"):
            assert_same_bits(valuer.value(FRAMES[kind](X), y), expected[0])
