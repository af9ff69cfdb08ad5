"""Labels of any kind, as the engine takes them and as they were given."""

from __future__ import annotations

import decimal
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dshap._dshap import spelled
from dshap._errors import InputError, InputTypeError
from dshap._inputs import Target, column_of, refuse_time
from dshap._kinds import IN_PLACE, NUMBERS, is_missing, time_in, time_of


def labels_of(y: Any) -> Target:
    """y as labels: whole or other numbers, booleans or text; NaN and None are missing."""
    cells = column_of(y, "y", as_objects=True)
    refuse_time(time_in(cells.dtype), cells.dtype, "y")
    kind = cells.dtype.kind
    if kind == "b":
        return Target(cells.astype(np.float64), "booleans", cells.dtype)
    if kind in NUMBERS:
        return Target(cells if cells.dtype in IN_PLACE else cells.astype(np.float64), "numbers", cells.dtype)
    if kind == "U":
        return Target(cells.astype(object), "words", cells.dtype)
    if kind == "c":
        raise InputError("Complex data not supported: y holds complex numbers")
    if kind != "O":
        raise InputTypeError(f"y holds {cells.dtype} cells, which cannot be labels; give text, whole numbers or booleans")
    return _objects(cells)


def _objects(cells: NDArray[Any]) -> Target:
    missing = np.fromiter((is_missing(cell) for cell in cells), dtype=bool, count=len(cells))
    known = cells[~missing]
    if all(isinstance(cell, str) for cell in known):
        words = cells
        if missing.any():
            words = cells.copy()
            words[missing] = None
        return Target(words, "words", np.dtype(object))
    for kind, classes in (("booleans", (bool, np.bool_)), ("numbers", (numbers.Real, decimal.Decimal))):
        if all(isinstance(cell, classes) for cell in known):
            doubles = np.full(len(cells), np.nan)
            doubles[~missing] = known.astype(np.float64)
            whole = all(isinstance(cell, numbers.Integral) for cell in known)
            return Target(doubles, kind, np.dtype(bool if kind == "booleans" else np.int64 if whole else np.float64))
    for row, cell in enumerate(cells):
        refuse_time(time_of(cell), type(cell).__name__, f"y[{row}]")
    kinds = sorted({type(cell).__name__ for cell in known})
    raise InputTypeError(f"y holds labels of several kinds ({', '.join(kinds)}); give only text, only numbers or only booleans")


def classes_of(kind: str, stored: list[Any], given: Target | None) -> NDArray[Any]:
    """The labels of the classes, in the order of the engine, as they were given."""
    if kind == "booleans":
        return np.array(stored, dtype=bool)
    if kind == "numbers":
        if given is not None and given.kind == "numbers":
            return np.array(stored).astype(given.dtype)
        whole = all(float(label).is_integer() for label in stored)
        return np.array(stored, dtype=np.int64 if whole else np.float64)
    if given is None or given.kind != "words":
        return np.array(stored)
    # The engine spells text as it does categories: True is true, 1.0 is 1.
    words = sorted({str(word) for word in given.cells if word is not None}, reverse=True)
    as_given = dict(zip(spelled(words), words))
    return np.array([as_given.get(word, word) for word in stored])
