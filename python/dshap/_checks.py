"""Checks of arguments that are numbers, flags and paths."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np

from dshap._errors import InputError, InputTypeError

#: Beyond this, sums of set sizes overflow the numbers they are counted with.
LARGEST_SIZE = 10**15


def whole(name: str, number: Any, least: int, most: int, otherwise: str = "") -> int:
    """A whole number within limits."""
    expected = f"`{name}` is {number!r}; expected a whole number from {least} to {most:.0e}{otherwise}"
    try:
        found = operator.index(number)
    except TypeError:
        raise InputTypeError(expected) from None
    if isinstance(number, (bool, np.bool_)):
        raise InputTypeError(expected)
    if not least <= found <= most:
        raise InputError(expected)
    return found


def size(name: str, number: Any) -> int | None:
    """A set size, or None."""
    return None if number is None else whole(name, number, 1, LARGEST_SIZE, ", or None")


def sizes(name: str, numbers: Any) -> list[int | None]:
    """Several different set sizes, or one, or None."""
    if not isinstance(numbers, (list, tuple, np.ndarray)) or np.ndim(numbers) != 1:
        return [size(name, numbers)]
    found = [whole(name, number, 1, LARGEST_SIZE) for number in numbers]
    if not found or len(set(found)) < len(found):
        raise InputError(f"`{name}` is {numbers!r}; expected different whole numbers, at least one")
    return list(found)


def threads(n_jobs: Any) -> int | None:
    """A number of threads, or None; the engine settles what it means."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, (bool, np.bool_)) or not hasattr(n_jobs, "__index__"):
        raise InputTypeError(
            f"`n_jobs` is {n_jobs!r}; expected a number of threads, −1 for all cores, −2 for all but one, or None"
        )
    # Numbers beyond the range of the engine mean the same as any large number.
    return max(-(2**31), min(operator.index(n_jobs), 2**31))


def flag(name: str, value: Any, more: str = "") -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputTypeError(f"`{name}` is {value!r}; expected True or False{more}")
    return bool(value)


def path(given: Any) -> str:
    """A path as text, also from bytes and path objects."""
    try:
        return os.fsdecode(given)
    except TypeError:
        raise InputTypeError(f"`path` is {given!r}; expected a path, such as 'price.dshap'") from None
