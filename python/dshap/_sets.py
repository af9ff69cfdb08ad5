"""What baselines and trials of values have in common: models are fitted to sets of rows."""

from __future__ import annotations

from collections.abc import Callable
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

__all__ = ["InputError", "bar", "options", "pair", "rows", "tell"]

TASKS = ("regression", "classification", "density")

#: What is said where a function has no keyword for it.
UNSAID = {
    "bandwidth": None,
    "dependent": "drop",
    "intercept": True,
    "kernel": None,
    "m": None,
    "q": None,
    "refit_intercept": False,
    "ridge": None,
    "samples": None,
    "scale": None,
    "seed": 0,
    "stop": None,
    "unseen": "error",
    "utility": None,
}


class Rows(NamedTuple):
    """Rows, what their columns are called and how their targets are read."""

    table: Table
    names: Names | None
    target_of: Callable[[Any], Target | None]
    categorical: list[str]
    index: Any

    def beside(self, given: Any, what: str) -> Table | None:
        """Others with the same columns, if there are any."""
        if given is None:
            return None
        return beside(given, what, self.table, self.names, self.target_of, f"`{what}`")


def rows(X: Any, y: Any, task: str | None, categorical: Any) -> Rows:
    """The rows of X, and their targets unless a density is estimated."""
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


def options(**said: Any) -> SimpleNamespace:
    """Keywords as attributes, for the engine to check."""
    said["seed"] = _checks.whole("seed", said.get("seed", 0), 0, 2**64 - 1)
    return SimpleNamespace(**{**UNSAID, **said})


def bar(progress: Any) -> Any:
    """A bar, if one is wanted."""
    return Bar() if _checks.flag("progress", progress) else nullcontext()


def tell(warnings: list[str]) -> None:
    """Says what is doubtful."""
    for text in warnings:
        warn(text, DshapWarning)
