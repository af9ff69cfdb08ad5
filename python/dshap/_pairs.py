"""Rows that come with other rows: test rows, and a reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dshap import _inputs
from dshap._dshap import Table
from dshap._errors import InputError
from dshap._inputs import Target
from dshap._kinds import is_frame, shape_of
from dshap._names import Names, check_names, names_of
from dshap._warn import warn


def pair(given: Any, what: str, has_target: bool) -> tuple[Any, Any]:
    """Rows and their targets; rows alone for a density."""
    is_pair = isinstance(given, (tuple, list)) and len(given) == 2
    if has_target and not is_pair:
        raise InputError(f"`{what}` is a pair of rows and their targets, such as {what}=(X_{what}, y_{what})")
    if has_target:
        return given[0], given[1]
    return (given[0], None) if is_pair and given[1] is None else (given, None)


def beside(
    given: Any,
    what: str,
    table: Table,
    names: Names | None,
    target_of: Callable[[Any], Target | None],
    who: str,
) -> Table:
    """Rows with the columns of `table`, under the same names."""
    X, y = pair(given, what, table.target is not None)
    _check_columns(X, what, table, names, who)
    return _inputs.table(X, y, target_of=target_of, names=table.names, called=table.target).table


def beside_without_target(X: Any, what: str, table: Table, names: Names | None, who: str) -> Table:
    """Inputs with the features of `table`, under the same names."""
    _check_columns(X, what, table, names, who)
    return _inputs.table(X, None, target_of=lambda _: None, names=table.names).table


def _check_columns(X: Any, what: str, table: Table, names: Names | None, who: str) -> None:
    """Refuses rows with other columns than those of `table`."""
    _inputs.refuse_unusable(X)
    doubt = check_names(names, names_of(X), who)
    if doubt is not None:
        warn(doubt, UserWarning)
    shape, wanted = shape_of(X if is_frame(X) else _inputs.array(X)), table.names
    if shape is not None and shape[1] != len(wanted):
        raise InputError(f"the {what} rows have {shape[1]} features, but the reference has {len(wanted)}")
