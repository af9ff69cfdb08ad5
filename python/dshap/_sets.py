"""What baselines and trials of values share: models are fitted to sets of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, NamedTuple

from dshap import _checks, _inputs
from dshap._dshap import Table
from dshap._errors import DshapWarning, InputError
from dshap._inputs import Target, numbers
from dshap._kinds import is_pandas
from dshap._labels import labels_of
from dshap._names import Names, named_columns
from dshap._pairs import beside, pair
from dshap._progress import Bar
from dshap._warn import warn

__all__ = ["InputError", "bar", "issue", "options", "pair", "rows"]

TASKS = ("regression", "classification", "density")

#: Options of the engine that functions take, with their defaults in Python. None is the default of the method.
DEFAULTS = {
    "bandwidth": None,
    "dependent": "drop",
    "intercept": True,
    "kernel": None,
    "m": None,
    "missing": "error",
    "q": None,
    "rare_levels": None,
    "refit_intercept": False,
    "ridge": None,
    "samples": None,
    "scale": None,
    "seed": 0,
    "stop": None,
    "task": None,
    "unseen": "error",
    "utility": None,
}


class Rows(NamedTuple):
    """Rows, the names of their columns and the way their targets are read."""

    table: Table
    names: Names | None
    target_of: Callable[[Any], Target | None]
    categorical: list[str]
    index: Any

    def beside(self, given: Any, what: str) -> Table | None:
        """Other rows with the same columns, if there are any."""
        if given is None:
            return None
        return beside(given, what, self.table, self.names, self.target_of, f"`{what}`")


def rows(X: Any, y: Any, task: str | None, categorical: Any) -> Rows:
    """The rows of X, with their targets unless a density is estimated."""
    if task is not None and task not in TASKS:
        raise InputError(f"`task` is {task!r}; expected 'regression', 'classification', 'density' or None")
    if y is None and task not in (None, "density"):
        raise InputError(f"a {task} requires y to be passed, but the target y is None")
    if y is not None and task == "density":
        raise InputError("a density has no target: leave y out")

    def target_of(y: Any) -> Target | None:
        if y is None:
            return None
        return Target(numbers(y, "y")) if task == "regression" else labels_of(y)

    table, names, _ = _inputs.table(X, y, target_of=target_of)
    index = X.index if is_pandas(X) else None
    return Rows(table, names, target_of, named_columns(categorical, table.names, names), index)


def options(given: Mapping[str, Any]) -> SimpleNamespace:
    """The options among the keywords of a function, as attributes that the engine reads and checks."""
    return SimpleNamespace(_DEFAULTS=DEFAULTS, **{name: given.get(name, default) for name, default in DEFAULTS.items()})


def bar(progress: Any) -> Any:
    """A progress bar, if one is wanted."""
    return Bar() if _checks.flag("progress", progress) else nullcontext()


def issue(warnings: list[str]) -> None:
    """Issues the warnings of the engine."""
    for text in warnings:
        warn(text, DshapWarning)
