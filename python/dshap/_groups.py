"""Values added up by owner."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dshap._errors import InputError, InputTypeError
from dshap._frames import TABLE, Columns
from dshap._kinds import is_missing, is_series

__all__ = ["Groups"]


class Groups(Columns):
    """Values added up by owner, from the highest total to the lowest.

    Attributes
    ----------
    owner : array
        The owners.
    total : array
        Sum of the values of their rows.
    n_rows : array of int
        Number of rows with a value.
    n_negative : array of int
        Number of rows with a negative value.
    stderr : array or None
        Standard errors of the totals, if the values have them and the method knows how errors of rows go together.
    """

    __module__ = "dshap"

    def __init__(self, owner: Any, total: Any, n_rows: Any, n_negative: Any, stderr: Any = None) -> None:
        self.owner, self.total, self.n_rows, self.n_negative = owner, total, n_rows, n_negative
        self.stderr: NDArray[np.float64] | None = stderr

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean value of a row; NaN for owners without a value."""
        with np.errstate(invalid="ignore"):
            return self.total / self.n_rows

    def __len__(self) -> int:
        return len(self.owner)

    def __repr__(self) -> str:
        width = max([5, *(len(str(owner)) for owner in self.owner)])
        has_errors = self.stderr is not None
        errors = self.stderr if self.stderr is not None else self.total
        head = f" {'stderr':>12}" if has_errors else ""
        lines = [f"{'owner':<{width}} {'total':>12}{head} {'mean':>12} {'n_rows':>8} {'n_negative':>10}"]
        columns = zip(self.owner, self.total, errors, self.mean, self.n_rows, self.n_negative)
        for owner, total, error, mean, n, bad in columns:
            shown = f" {error:>12.5g}" if has_errors else ""
            lines.append(f"{owner!s:<{width}} {total:>12.5g}{shown} {mean:>12.5g} {n:>8} {bad:>10}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = "".join(f"<th>{name}</th>" for name in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_short(cell))}</td>" for cell in row) + "</tr>"
            for row in zip(*columns.values())
        )
        return f"{TABLE}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _columns(self) -> dict[str, Any]:
        return {
            "owner": self.owner,
            "total": self.total,
            **({} if self.stderr is None else {"stderr": self.stderr}),
            "mean": self.mean,
            "n_rows": self.n_rows,
            "n_negative": self.n_negative,
        }


def owners_of(owner: Any, n_rows: int) -> NDArray[Any]:
    """The owner of each row, unchanged."""
    if is_series(owner):
        owner = owner.to_numpy()
    is_list = isinstance(owner, (list, tuple))
    # NumPy would turn a list of numbers and text into text.
    owners = np.fromiter(owner, dtype=object, count=len(owner)) if is_list else np.asarray(owner)
    if owners.shape != (n_rows,):
        raise InputError(f"there are {n_rows} values, but owner has shape {owners.shape}")
    if owners.dtype.kind in "fmM":
        missing = owners != owners
    else:
        missing = np.array([is_missing(who) for who in owners] if owners.dtype == object else [], dtype=bool)
    if missing.any():
        raise InputError(
            f"{missing.sum()} of {n_rows} rows have no owner, the first of them row {int(missing.argmax())}; give each "
            "row an owner, for example with owner.fillna('nobody'), or leave such rows out"
        )
    return owners


def grouped(owners: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Each owner once, and the number of the owner of each row."""
    if owners.dtype != object:
        return np.unique(owners, return_inverse=True)
    numbers: dict[Any, int] = {}
    try:
        group = np.array([numbers.setdefault(who, len(numbers)) for who in owners], dtype=np.intp)
    except TypeError as error:
        raise InputTypeError(f"owners cannot be told apart: {error}; give text, numbers or tuples") from None
    return np.fromiter(numbers, dtype=object, count=len(numbers)), group


def _short(cell: Any) -> str:
    return f"{cell:.5g}" if isinstance(cell, (float, np.floating)) else str(cell)
