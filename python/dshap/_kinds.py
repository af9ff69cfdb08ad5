"""The kind of an object, without importing packages that may not be installed."""

from __future__ import annotations

import datetime
import sys
from typing import Any

import numpy as np

#: Kinds of dtypes that the engine takes for numbers.
NUMBERS = "fiub"

#: Dtypes that it reads in place.
IN_PLACE = frozenset(np.dtype(code) for code in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"))

#: Cells that are a point in time, and a length of time.
DATES = (datetime.date, datetime.time, np.datetime64)
DURATIONS = (datetime.timedelta, np.timedelta64)


def is_a(thing: Any, module: str, *classes: str) -> bool:
    """Whether it is an instance of a class of a module that may not be installed."""
    there = sys.modules.get(module)
    found = tuple(kind for name in classes if isinstance(kind := getattr(there, name, None), type))
    return isinstance(thing, found)


def is_pandas(X: Any) -> bool:
    """Whether it is a pandas frame, of any class."""
    return is_a(X, "pandas", "DataFrame")


def is_polars(X: Any) -> bool:
    """Whether it is a polars frame."""
    return is_a(X, "polars", "DataFrame")


def is_series(cells: Any) -> bool:
    """Whether it is a pandas column."""
    return is_a(cells, "pandas", "Series", "Index")


def is_frame(X: Any) -> bool:
    """Whether X has named columns of its own."""
    return is_pandas(X) or hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def is_lazy(X: Any) -> bool:
    """Whether it is a lazy frame, which has no rows yet."""
    return hasattr(X, "collect") and hasattr(X, "collect_schema")


def one_column(X: Any) -> str | None:
    """How to make a frame of a single column, if X is one."""
    if is_series(X) or is_a(X, "polars", "Series"):
        return "X.to_frame()"
    if is_a(X, "pyarrow", "Array", "ChunkedArray"):
        return "pa.table({'x': X})"
    return None


def shape_of(X: Any) -> tuple[int, int] | None:
    """Rows and columns of a frame that knows them."""
    if hasattr(X, "num_rows") and hasattr(X, "num_columns"):  # pyarrow
        return X.num_rows, X.num_columns
    shape = getattr(X, "shape", None)
    return (shape[0], shape[1]) if isinstance(shape, tuple) and len(shape) == 2 else None


def time_in(dtype: Any) -> str | None:
    """Whether a dtype of NumPy or pandas holds `dates` or `durations`."""
    kind, name = getattr(dtype, "kind", "O"), str(dtype)
    if kind == "M" or name.startswith(("period", "date", "time")):
        return "dates"
    if kind == "m" or name.startswith("duration"):
        return "durations"
    return None


def time_of(cell: Any) -> str | None:
    """Whether a cell is of `dates` or `durations`."""
    if isinstance(cell, DATES) or is_a(cell, "pandas", "Period"):
        return "dates"
    return "durations" if isinstance(cell, DURATIONS) else None


def is_missing(cell: Any) -> bool:
    """Whether it is None, NaN, NaT or NA."""
    if cell is None or cell is getattr(sys.modules.get("pandas"), "NA", None):
        return True
    return isinstance(cell, float) and cell != cell or type(cell).__name__ == "NaTType"
