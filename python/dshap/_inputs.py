"""Tables of the engine from arrays and frames.

NumPy arrays and numeric pandas columns are read in place; other frames are handed
over as Arrow data. The engine checks cells; kinds, shapes and names are checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from dshap._dshap import Table
from dshap._errors import InputError, InputTypeError
from dshap._kinds import (
    IN_PLACE,
    NUMBERS,
    is_a,
    is_frame,
    is_lazy,
    is_pandas,
    is_polars,
    is_series,
    one_column,
    shape_of,
    time_in,
    time_of,
)
from dshap._names import Names, names_of, numbered
from dshap._warn import warn

#: Items that make a list two-dimensional.
NESTED = (list, tuple, np.ndarray)


class Target(NamedTuple):
    """What is predicted: numbers, or labels."""

    cells: NDArray[Any]  #: numbers; doubles for `booleans`, text and None for `words`
    kind: str | None = None  #: for labels: `numbers`, `booleans` or `words`
    dtype: Any = None  #: the type that labels were given as


class Made(NamedTuple):
    """A table, the names of its columns and its target."""

    table: Table
    names: Names | None
    target: Target | None


def table(
    X: Any,
    y: Any,
    weights: Any = None,
    *,
    target_of: Callable[[Any], Target | None],
    names: list[str] | None = None,
    called: str | None = None,
) -> Made:
    """A table of features, and of target and weights if there are any.

    `names` and `called`, the name of the target, are those of a fitted valuer; without
    them, columns are named as in X and y, or numbered as in an NPY file.
    """
    refuse_unusable(X)
    own = names_of(X)
    target = target_of(y)
    if target is not None:
        if called is None:
            called = _name_of(y, own)
        _refuse_other_order(X, y, "y")
    _refuse_other_order(X, weights, "sample_weight")
    weights = None if weights is None else numbers(weights, "sample_weight")
    if is_pandas(X):
        features: Any = _pandas(X)
    elif is_frame(X):
        _refuse_nothing(X)
        features = X
    else:
        features = array(X)
    shape = shape_of(X if isinstance(features, list) else features)
    _refuse_empty(shape)
    cells = None if target is None else target.cells
    kind = None if target is None else target.kind
    if cells is not None:
        _same_length(len(cells) if shape is None else shape[0], cells, weights)
    if weights is not None and not weights.any():
        raise InputError("sample_weight is zero for every row, so there is no reference")
    if not isinstance(features, (list, np.ndarray)):
        if cells is not None and kind != "words":
            cells = np.ascontiguousarray(cells, dtype=np.float64)
        weights = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        # An object that only hands out Arrow data has its names known once it is read.
        wanted = None if own is None else names or own.of_design()
        made = Table.of_arrow(features, cells, called, weights, wanted, kind)
        return Made(made, own or Names(made.names, True), target)
    arrays = features if isinstance(features, list) else [features]
    n_columns = sum(1 if column.ndim == 1 else column.shape[1] for column in arrays)
    if names is None:
        names = numbered(n_columns) if own is None else own.of_design()
    found = Table.of_arrays(arrays, names, cells, called, weights, kind)
    if found is None:
        # Types that the engine does not read in place, such as half precision.
        arrays = [np.asarray(column, dtype=np.float64) for column in arrays]
        found = Table.of_arrays(arrays, names, cells, called, weights, kind)
    if found is None:
        raise InputError(f"X cannot be read as numbers: {[column.dtype for column in arrays]}")
    return Made(found, own, target)


def refuse_unusable(X: Any) -> None:
    """Refuses anything that is not a table, with advice."""
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        raise InputError(
            "X is a sparse matrix, but centring by the means makes every cell count; "
            "give X.toarray(), or fewer columns"
        )
    if is_lazy(X):
        raise InputTypeError(f"X is a {type(X).__name__}, which has no rows yet; give X.collect()")
    how = one_column(X)
    if how is not None:
        raise InputTypeError(
            f"Expected a 2-dimensional container but got {type(X)} instead: X needs rows and columns, so give a single "
            f"feature as a frame with one column, {how}"
        )


def array(X: Any) -> NDArray[Any]:
    """X as an array of numbers with two dimensions; unchanged if it is one."""
    try:
        X = _unmasked(X) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    except ValueError as error:
        raise InputError(f"X has rows of different lengths: {error}") from None
    if X.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {X.ndim}D array instead: X has shape {X.shape}. Reshape your data either "
            "using X.reshape(-1, 1) if it has a single feature or X.reshape(1, -1) if it contains a single sample."
        )
    return X if X.dtype.kind in NUMBERS else _doubles(X, "X", "X[{}, {}]")


def numbers(cells: Any, what: str) -> NDArray[Any]:
    """A column of doubles, or of numbers that the engine reads as doubles."""
    cells = column_of(cells, what)
    if cells.dtype in IN_PLACE:
        return cells
    if cells.dtype.kind in NUMBERS:
        return np.ascontiguousarray(cells, dtype=np.float64)
    return _doubles(cells, what, what + "[{}]")


def column_of(cells: Any, what: str, *, as_objects: bool = False) -> NDArray[Any]:
    """One column of anything, as an array; pandas columns with missing cells become doubles, or objects."""
    if is_lazy(cells):
        raise InputTypeError(f"{what} is a {type(cells).__name__}, which has no rows yet; give {what}.collect()")
    if is_a(cells, "duckdb", "DuckDBPyRelation"):
        columns = cells.fetchnumpy()
        if len(columns) != 1:
            raise InputError(f"{what} should be one column, got a relation with {len(columns)} columns instead")
        (cells,) = columns.values()
    if is_pandas(cells):
        if cells.shape[1] != 1:
            raise InputError(f"{what} should be one column, got a frame of shape {cells.shape} instead")
        cells = cells.iloc[:, 0]
    if is_series(cells):
        refuse_time(time_in(cells.dtype), cells.dtype, what)
        # A missing cell may be an object that NumPy cannot turn into a number.
        nullable = not isinstance(cells.dtype, np.dtype) and getattr(cells.dtype, "kind", "O") in NUMBERS
        if nullable:
            cells = cells.to_numpy(object, na_value=None) if as_objects else cells.to_numpy(np.float64, na_value=np.nan)
        else:
            cells = cells.to_numpy()
    if as_objects and isinstance(cells, (list, tuple)) and not any(isinstance(cell, NESTED) for cell in cells):
        # NumPy would turn a list of numbers and text into text.
        cells = np.fromiter(cells, dtype=object, count=len(cells))
    try:
        cells = _unmasked(cells) if isinstance(cells, np.ma.MaskedArray) else np.asarray(cells)
    except ValueError as error:
        raise InputError(f"{what} should be a 1d array: {error}") from None
    if cells.ndim == 2 and cells.shape[1] == 1:
        warn(
            f"A column-vector {what} was passed when a 1d array was expected. Please change the shape of {what} to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        cells = cells[:, 0]
    if cells.ndim != 1:
        raise InputError(f"{what} should be a 1d array, got an array of shape {cells.shape} instead")
    return cells


def _doubles(cells: NDArray[Any], what: str, place: str) -> NDArray[np.float64]:
    """Objects as doubles; text that looks like a number is refused, as in frames."""
    if cells.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {what} holds complex numbers")
    refuse_time(time_in(cells.dtype), cells.dtype, what)
    if cells.dtype.kind in "US":
        raise InputError(_text(what, str(cells.flat[0]) if cells.size else ""))
    problem = None
    doubles = np.empty(0)
    try:
        doubles = cells.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        problem = error
    if cells.dtype.kind == "O":
        for at, cell in np.ndenumerate(cells):
            if isinstance(cell, (str, bytes)):
                raise InputError(_text(place.format(*at), cell))
            refuse_time(time_of(cell), type(cell).__name__, place.format(*at))
    if problem is not None:
        raise InputTypeError(f"{what} holds something that is not a number: {problem}") from None
    return np.ascontiguousarray(doubles) if cells.ndim == 1 else doubles


def _text(what: str, cell: Any) -> str:
    advice = (
        "give text columns in a frame of pandas, polars or pyarrow, and numbers held as text as X.astype(float)"
        if what.startswith("X")
        else "numbers are needed; turn numbers held as text into numbers with astype(float)"
    )
    return f"{what} is text, {cell!r}: {advice}" if "[" in what else f"{what} holds text, such as {cell!r}: {advice}"


def refuse_time(time: str | None, dtype: Any, what: str) -> None:
    """Refuses dates and durations."""
    if time == "dates":
        raise InputError(
            f"{what} holds dates or times ({dtype}), which have no agreed meaning as numbers; give numbers, such as "
            "days since a fixed date"
        )
    if time == "durations":
        raise InputError(f"{what} holds lengths of time ({dtype}), whose unit you have to choose; give numbers, such as hours")


def _pandas(X: Any) -> Any:
    """The columns of a pandas frame: views of them if all are numbers, else Arrow data."""
    if any(str(dtype).startswith("Sparse") for dtype in X.dtypes):
        raise InputError("X has sparse columns; give X.sparse.to_dense()")
    if not X.columns.is_unique:
        raise InputError("X has two columns with the same name; give each column a different name")
    if all(isinstance(dtype, np.dtype) and dtype.kind in NUMBERS for dtype in X.dtypes):
        return [X.iloc[:, j].to_numpy() for j in range(X.shape[1])]
    for name, dtype in zip(X.columns, X.dtypes):
        if isinstance(dtype, np.dtype) and dtype.kind == "c":
            raise InputError("Complex data not supported: X holds complex numbers")
        if str(dtype).startswith("period"):
            # Arrow data would hold only its numbers.
            refuse_time("dates", dtype, f"X[{name!r}]")
        if str(getattr(dtype, "categories", dtype)).startswith(("interval", "IntervalIndex")):
            raise InputError(f"X[{name!r}] holds intervals; give them as categories, X[{name!r}].astype(str)")
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(
            "pandas frames with text, categories or nullable columns need pyarrow: pip install pyarrow"
        ) from None
    try:
        return pa.Table.from_pandas(X, preserve_index=False)
    except (pa.lib.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"X cannot be read: {error}") from error


def _refuse_nothing(X: Any) -> None:
    """Refuses polars columns without a type, which have no form in Arrow data."""
    for name, dtype in X.schema.items() if is_polars(X) else ():
        if str(dtype) == "Null":
            raise InputError(f"column `{name}` of X has no value at all; leave it out of X")


def _unmasked(cells: Any) -> NDArray[Any]:
    """Masked cells as missing cells."""
    return cells.astype(np.float64).filled(np.nan) if np.ma.is_masked(cells) else np.asarray(cells)


def _refuse_other_order(X: Any, column: Any, what: str) -> None:
    """Refuses the same labels in another order: rows go by position, so that is a mistake."""
    if is_pandas(X) and is_series(column) and hasattr(column, "index"):
        refuse_other_labels(X.index, column.index, what, "X")


def refuse_other_labels(index: Any, other: Any, what: str, whose: str) -> None:
    """Refuses the labels of `index` in another order."""
    if len(index) != len(other) or index.equals(other) or not index.is_unique:
        return
    if index.symmetric_difference(other, sort=False).empty:
        raise InputError(
            f"the index of {what} has the labels of {whose} in another order, but rows go by position; "
            f"give {what}.loc[{whose}.index]"
        )


def _name_of(y: Any, names: Names | None) -> str:
    """The name of y, its own or a free one."""
    called = getattr(y, "name", None)
    taken = [] if names is None else names.names
    if isinstance(called, str) and called:
        if called in taken:
            raise InputError(
                f"X has a column '{called}', and y has the same name; leave the target out of X, or rename y"
            )
        return called
    free = "y"
    while free in taken:
        free += "_"
    return free


def _same_length(n_rows: int, y: NDArray[Any], weights: NDArray[Any] | None) -> None:
    lengths = [n_rows, len(y)] + ([] if weights is None else [len(weights)])
    if len(set(lengths)) > 1:
        what = "X, y" if weights is None else "X, y, sample_weight"
        raise InputError(f"Found input variables with inconsistent numbers of samples ({what}): {lengths}")


def _refuse_empty(shape: tuple[int, int] | None) -> None:
    for count, what in () if shape is None else ((shape[1], "feature"), (shape[0], "sample")):
        if count == 0:
            raise InputError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
