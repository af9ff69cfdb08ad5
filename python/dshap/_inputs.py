"""From what users have to tables of the engine.

NumPy arrays and numeric pandas columns are read where they are; other frames are
handed over as Arrow data. Checking cells is the engine's business; here only
kinds, shapes and names are looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from dshap._dshap import Table
from dshap._errors import InputError

#: Kinds of dtypes that are numbers for the engine.
NUMBERS = "fiub"

#: Those that it reads where they are.
IN_PLACE = frozenset(np.dtype(code) for code in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"))


def is_frame(X: Any) -> bool:
    """Whether X has named columns of its own."""
    return is_pandas(X) or hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def is_unknown(X: Any) -> bool:
    """Whether X hands out Arrow data, and nothing else is known of it."""
    return is_frame(X) and not is_pandas(X) and names_of(X) is None


def is_pandas(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "pandas" and hasattr(X, "columns")


def names_of(X: Any) -> list[str] | None:
    """The names of the columns, if X has any; scikit-learn takes only text for names."""
    if is_pandas(X):
        names = list(X.columns)
    elif hasattr(X, "column_names"):  # pyarrow
        names = list(X.column_names)
    elif is_frame(X) and hasattr(X, "columns"):  # polars
        names = list(X.columns)
    elif is_frame(X) and hasattr(getattr(X, "schema", None), "names"):
        names = list(X.schema.names)
    else:
        return None
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        raise TypeError(
            "Feature names are only supported if all input features have string names, "
            f"but your input has {sorted({type(name).__name__ for name in names})} as feature name / column "
            "name types. If you want feature names to be stored and validated, you must convert them all to "
            "strings, by using X.columns = X.columns.astype(str) for example."
        )
    return [str(name) for name in names] if names and all(texts) else None


def table(X: Any, y: Any, weights: Any = None, *, names: list[str] | None = None, target: str | None = None) -> Table:
    """A table of features, target and weights.

    `names` and `target` are those of a fitted valuer; without them columns are
    called as in X and y, or numbered as in an NPY file.
    """
    refuse_sparse(X)
    if y is None:
        raise InputError(
            "RegressionValuer requires y to be passed, but the target y is None: a row is valued with its target"
        )
    called = getattr(y, "name", None)
    _refuse_other_order(X, y, "y")
    _refuse_other_order(X, weights, "sample_weight")
    y = _numbers(y, "y")
    weights = None if weights is None else _numbers(weights, "sample_weight")
    own = names_of(X)
    if target is None:
        target = _target(called, own)
    if is_pandas(X):
        features: Any = _pandas(X)
    elif is_frame(X):
        features = X
    else:
        features = array(X)
    if isinstance(features, np.ndarray):
        n_rows, n_columns = features.shape
        features = [features]
    elif isinstance(features, list):
        n_rows, n_columns = len(X), len(features)
    else:
        n_rows, n_columns = len(features) if hasattr(features, "__len__") else len(y), None
    _same_length(n_rows, y, weights)
    if weights is not None and not weights.any():
        raise InputError("sample_weight is zero for every row, so that there is no reference")
    if n_columns is None:
        y = np.ascontiguousarray(y, dtype=np.float64)
        weights = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        return Table.of_arrow(features, y, target, weights)
    if n_columns == 0:
        raise InputError(f"Found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required.")
    if n_rows == 0:
        raise InputError(f"Found array with 0 sample(s) (shape=(0, {n_columns})) while a minimum of 1 is required.")
    if names is None:
        names = own or [f"column_{j}" for j in range(n_columns)]
    made = Table.of_arrays(features, names, y, target, weights)
    if made is None:
        # Types that the engine does not read in place, such as half precision.
        made = Table.of_arrays([np.asarray(f, dtype=np.float64) for f in features], names, y, target, weights)
    if made is None:
        raise InputError(f"X cannot be read as numbers: {[f.dtype for f in features]}")
    return made


def refuse_sparse(X: Any) -> None:
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        raise InputError(
            "X is a sparse matrix, and centring by the means makes every cell matter; "
            "give X.toarray(), or fewer columns"
        )


def array(X: Any) -> NDArray[Any]:
    """X as an array of numbers with two dimensions; as it is where that will do."""
    X = _unmasked(X) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    if X.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {X.ndim}D array instead: X has shape {X.shape}. Reshape your data either "
            "using X.reshape(-1, 1) if it has a single feature or X.reshape(1, -1) if it contains a single sample."
        )
    if X.dtype.kind == "c":
        raise InputError("Complex data not supported: X holds complex numbers")
    if X.dtype.kind not in NUMBERS:
        if X.dtype.kind in "mM":
            raise InputError("X holds dates or times, which have no agreed meaning as numbers")
        try:
            X = X.astype(np.float64)
        except ValueError as error:
            raise InputError(f"{error}; give text columns in a frame of pandas, polars or pyarrow") from None
    return X


def _pandas(X: Any) -> Any:
    """The columns of a pandas frame: views of them if all are numbers, else Arrow data."""
    if hasattr(X, "sparse") and any(str(dtype).startswith("Sparse") for dtype in X.dtypes):
        raise InputError("X has sparse columns; give X.sparse.to_dense()")
    if not X.columns.is_unique:
        raise InputError("X has two columns of one name; give each column a name of its own")
    if all(isinstance(dtype, np.dtype) and dtype.kind in NUMBERS for dtype in X.dtypes):
        return [X.iloc[:, j].to_numpy() for j in range(X.shape[1])]
    if any(isinstance(dtype, np.dtype) and dtype.kind == "c" for dtype in X.dtypes):
        raise InputError("Complex data not supported: X holds complex numbers")
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(
            "pandas frames with text, categories or nullable columns need pyarrow: pip install pyarrow"
        ) from None
    try:
        frame = X if all(isinstance(name, str) for name in X.columns) else X.rename(columns=str)
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InputError(f"X cannot be read: {error}") from error


def _numbers(cells: Any, what: str) -> NDArray[Any]:
    """A column of doubles, or of numbers that the engine reads as such."""
    if is_pandas(cells):
        if cells.shape[1] != 1:
            raise InputError(f"{what} should be one column, got a frame of shape {cells.shape} instead")
        cells = cells.iloc[:, 0]
    if hasattr(cells, "to_numpy") and hasattr(cells, "isna"):  # pandas, where a missing cell may be an object
        cells = cells.to_numpy(dtype=np.float64, na_value=np.nan) if _is_nullable(cells) else cells.to_numpy()
    cells = _unmasked(cells) if isinstance(cells, np.ma.MaskedArray) else np.asarray(cells)
    if cells.ndim == 2 and cells.shape[1] == 1:
        cells = column_or_1d(cells, warn=True)
    if cells.ndim != 1:
        raise InputError(f"{what} should be a 1d array, got an array of shape {cells.shape} instead")
    if cells.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {what} holds complex numbers")
    if cells.dtype.kind not in NUMBERS and cells.dtype.kind != "O":
        raise InputError(f"{what} holds {cells.dtype} cells; regression needs numbers")
    if cells.dtype in IN_PLACE:
        return cells
    try:
        return np.ascontiguousarray(cells, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} holds something that is no number: {error}") from None


def _unmasked(cells: Any) -> NDArray[Any]:
    """Masked cells are missing ones."""
    return cells.astype(np.float64).filled(np.nan) if np.ma.is_masked(cells) else np.asarray(cells)


def _refuse_other_order(X: Any, column: Any, what: str) -> None:
    """Rows go by their position; the same labels in another order are a slip."""
    if not is_pandas(X) or not hasattr(column, "index") or not hasattr(column, "isna"):
        return
    index, other = X.index, column.index
    if len(index) != len(other) or index.equals(other) or not index.is_unique:
        return
    if index.symmetric_difference(other, sort=False).empty:
        raise InputError(
            f"the index of {what} has the labels of X in another order, and rows go by their position; "
            f"give {what}.loc[X.index]"
        )


def _is_nullable(series: Any) -> bool:
    return not isinstance(series.dtype, np.dtype)


def _target(called: Any, names: list[str] | None) -> str:
    if isinstance(called, str) and called:
        if names and called in names:
            raise InputError(
                f"X has a column '{called}', and y is called so too; leave the target out of X, or rename y"
            )
        return called
    free = "y"
    while names and free in names:
        free += "_"
    return free


def _same_length(n_rows: int, y: NDArray[Any], weights: NDArray[Any] | None) -> None:
    lengths = [n_rows, len(y)] + ([] if weights is None else [len(weights)])
    if len(set(lengths)) > 1:
        what = "X, y" if weights is None else "X, y, sample_weight"
        raise InputError(f"Found input variables with inconsistent numbers of samples ({what}): {lengths}")


def check_names(fitted: list[str] | None, names: list[str] | None, estimator: str) -> str | None:
    """Compares names as scikit-learn does; returns a warning, if there is one."""
    if fitted is None and names is None:
        return None
    if fitted is None:
        return f"X has feature names, but {estimator} was fitted without feature names"
    if names is None:
        return f"X does not have valid feature names, but {estimator} was fitted with feature names"
    if fitted == names:
        return None
    message = "The feature names should match those that were passed during fit.\n"
    unexpected, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))

    def listed(some: list[str]) -> str:
        return "".join(f"- {name}\n" for name in some[:5]) + ("- ...\n" if len(some) > 5 else "")

    if unexpected:
        message += "Feature names unseen at fit time:\n" + listed(unexpected)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not unexpected and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise InputError(message)
