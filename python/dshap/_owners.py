"""What owners of rows are worth, and what they are paid."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dshap import _dshap
from dshap._errors import InputError
from dshap._frames import Columns
from dshap._groups import owners_of
from dshap._inputs import refuse_other_labels
from dshap._kinds import is_pandas, is_series
from dshap._sets import bar, issue, rows

__all__ = ["Owners", "Payout", "owners", "payout", "verify"]

#: Options of the engine that `owners` takes, with their defaults in Python.
OWNERS_DEFAULTS = {
    "bandwidth": None,
    "duplicates": "each",
    "game_only": False,
    "k": None,
    "kernel": None,
    "m": None,
    "metric": None,
    "missing": "error",
    "near": None,
    "q": None,
    "ridge": None,
    "samples": None,
    "scale": None,
    "seed": 0,
    "stop": None,
    "task": None,
    "unseen": "error",
    "utility": None,
}

#: Columns of a table of owners, in the order of the command line's output.
LINES = (
    "owner",
    "rows",
    "row_sum",
    "row_sum_stderr",
    "row_mean",
    "below_zero",
    "joint",
    "shapley",
    "stderr",
    "given_own",
    "given_own_stderr",
    "duplicates",
    "near",
    "near_repeated",
    "repeated",
)


class Lines(Columns):
    """A result with one line per owner; columns that were not computed are None."""

    _NAMES: tuple[str, ...] = ()

    def __init__(self, found: dict[str, Any]) -> None:
        lines = found["owners"]
        for name in self._NAMES:
            cells = [line.get(name) for line in lines]
            column: Any = None
            if name == "owner":
                column = np.array(cells, dtype=object)
            elif any(cell is not None for cell in cells):
                column = np.array([np.nan if cell is None else cell for cell in cells])
            setattr(self, name, column)

    def __len__(self) -> int:
        return len(self.owner)  # type: ignore[attr-defined]

    def _columns(self) -> dict[str, Any]:
        return {name: column for name in self._NAMES if (column := getattr(self, name)) is not None}

    def __repr__(self) -> str:
        columns = self._columns()
        texts = [
            [name, *(cell if isinstance(cell, str) else f"{cell:.5g}" for cell in column)]
            for name, column in columns.items()
        ]
        widths = [max(map(len, column)) for column in texts]
        return "\n".join(
            "  ".join(cell.ljust(width) if j == 0 else cell.rjust(width) for j, (cell, width) in enumerate(zip(line, widths)))
            for line in zip(*texts)
        )


class Owners(Lines):
    """What each owner of rows is worth, by name. Returned by `dshap.owners`.

    Attributes
    ----------
    owner : array of str
        The owners.
    rows : array of int
        Their rows.
    row_sum, row_mean, below_zero : array or None
        Sum and mean of the values of their rows, and the share of rows with a negative value.
        Copies of a row add up in these sums, unless `duplicates="once"`.
    row_sum_stderr : array or None
        The standard errors of the sums, whose rows share one fit.
    joint : array or None
        Regression: the distributional value of all rows of an owner together, against the rows of the other owners.
        Copies do not add up. NaN where the other owners have too few rows.
    shapley, stderr : array
        The value of each owner in the game between owners, and its standard error.
    given_own, given_own_stderr : array or None
        With `own`: what an owner brings to a buyer who has only these rows, and its standard error.
    duplicates, near, near_repeated, repeated : array of int or None
        Rows that another owner has too, rows that are nearly the same as those of another owner or as an earlier one of
        its own, and rows that an owner has more than once.
    row_sum_at_m, joint_at_m : dict of arrays
        With several `m`: `row_sum` and `joint` for each of them. Otherwise empty.
    interactions : list of dict
        Pairs `a`, `b` of owners and their interaction `value`, from the strongest substitutes on. With more than 16
        owners they have a `stderr`; with more than 24, only some owners are looked at in pairs.
    total : float
        What all owners bring together, which is the sum of `shapley`.
    report : dict
        Everything, as `dshap owners -o owners.json` writes it.
    """

    __module__ = "dshap"
    _NAMES = LINES

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One page of HTML with charts and tables, as from `dshap.report`; also written to `path` if given."""
        from dshap._report import report

        return report(self, path, title=title)

    def __init__(self, found: dict[str, Any]) -> None:
        super().__init__(found)
        self.report = found
        self.interactions = found["interactions"]
        self.row_sum_at_m, self.joint_at_m = self._at_m("row_sum"), self._at_m("joint")
        self.total, self.ridge = found["total"], found.get("ridge")


    def _at_m(self, name: str) -> dict[int, NDArray[np.float64]]:
        sizes = [line.get("sizes", []) for line in self.report["owners"]]
        column: dict[int, list[float]] = {}
        for line in sizes:
            for size in line:
                column.setdefault(size["m"], []).append(size.get(name, np.nan))
        return {m: np.array(cells) for m, cells in column.items() if not np.isnan(cells).all()}

    def _columns(self) -> dict[str, Any]:
        columns = super()._columns()
        at_m = {f"row_sum_m{m}": cells for m, cells in self.row_sum_at_m.items()}
        at_m |= {f"joint_m{m}": cells for m, cells in self.joint_at_m.items()}
        place = list(columns).index("shapley")
        items = list(columns.items())
        return dict([*items[:place], *at_m.items(), *items[place:]])


class Payout(Lines):
    """Who is paid what, by name. Returned by `dshap.payout`.

    Attributes
    ----------
    owner : array of str
        The owners.
    rows : array of int or None
        Their rows, if they are known.
    value, stderr : array
        What they are paid for, and its standard error; `stderr` is None if it is not known.
    payout, payout_stderr : array
        What they are paid, and its standard error.
    units : array of int
        What they are paid in whole units, exactly.
    rank_survives : array or None
        The share of resampled values in which an owner keeps its rank.
    ranking_survives : float or None
        The share in which all owners do.
    report : dict
        Everything.
    """

    __module__ = "dshap"
    _NAMES = ("owner", "rows", "value", "stderr", "payout", "units", "payout_stderr", "rank_survives")

    def __init__(self, found: dict[str, Any]) -> None:
        super().__init__(found)
        self.report = found
        self.ranking_survives = found.get("ranking_survives")


def owners(
    X: Any,
    y: Any = None,
    *,
    by: ArrayLike,
    test: Any = None,
    own: Any = None,
    task: str | None = None,
    method: str | None = None,
    ridge: float | None = None,
    duplicates: str = "each",
    near: float | None = None,
    game_only: bool = False,
    utility: str | None = None,
    k: int | None = None,
    metric: str | None = None,
    kernel: str | None = None,
    bandwidth: Any = None,
    scale: str | None = None,
    m: int | Sequence[int] | None = None,
    q: int | None = None,
    stop: float | None = None,
    samples: int | None = None,
    seed: int = 0,
    categorical: Any = None,
    missing: str = "error",
    unseen: str = "error",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Owners:
    """What each owner's rows bring to a model, given the others and what the buyer has.

    A coalition of owners trains a model on the rows of its members; it is worth minus the loss on test rows. The
    Shapley value of an owner is its mean contribution over all orders in which owners may join. All coalitions are
    tried up to 16 owners; with more, owners join in random orders.

    Parameters
    ----------
    X, y : array_like or frame
        The rows of all owners; without y, a density is estimated.
    by : array_like of shape (n_rows,)
        The owner of each row.
    test : pair (X, y), optional
        Rows that measure. Without them, `own` or the rows themselves are predicted by cross-fitting.
    own : pair (X, y), optional
        Rows that the buyer has already: every coalition trains on them too.
    task : {'regression', 'classification', 'density'}, optional
        Guessed from y.
    method : str, optional
        The method of row values; `'knn'` also decides on the game.
    ridge : float, optional
        The penalty of every model; chosen by five-fold error if not given.
    duplicates : {'each', 'once'}
        Whether a row counts once, whoever has it and however often: in the game, in row sums and in joint values.
    near : float, optional
        Also find rows that differ by at most this many standard deviations, on average over columns. With
        `duplicates="once"` they count once, too.
    game_only : bool
        No row values and no search for duplicates.
    utility : {'log-loss', 'accuracy', 'brier'}, optional
        What a classifier is judged by.
    k, metric, scale, kernel, bandwidth : optional
        As for the estimators.
    m, q : int, optional
        Set sizes of row values. With a list of `m`, row sums and joint values have one column for each.
    stop, samples : optional
        With more than 16 owners: standard errors wanted, as a share of the spread of the owners' values (0.05), and
        the most rounds.
    seed : int
        Selects random orders.
    categorical, missing, unseen, n_jobs, progress
        As for the estimators.

    Returns
    -------
    Owners

    Examples
    --------
    >>> import dshap
    >>> X, y = dshap.datasets.gaussian_r(120, 3, seed=1)
    >>> found = dshap.owners(X, y, by=["ann", "bob", "cy"] * 40, test=dshap.datasets.gaussian_r(50, 3, seed=2))
    >>> found.owner.tolist(), bool(np.isclose(found.shapley.sum(), found.total))
    (['ann', 'bob', 'cy'], True)
    """
    given = {name: value for name, value in locals().items() if name in OWNERS_DEFAULTS}
    given["task"] = None if task == "density" else task
    read = rows(X, y, task, categorical)
    if is_series(by) and is_pandas(X) and hasattr(by, "index"):
        refuse_other_labels(X.index, by.index, "by", "X")
    names = [_spelled(name) for name in owners_of(by, len(read.table))]
    options = SimpleNamespace(_DEFAULTS=OWNERS_DEFAULTS, **given)
    with bar(progress) as shown:
        text, warnings = _dshap.owners(
            read.table,
            names,
            options,
            read.categorical,
            method,
            read.beside(test, "test"),
            read.beside(own, "own"),
            n_jobs,
            shown,
        )
    issue(warnings)
    return Owners(json.loads(text))


def _spelled(name: Any) -> str:
    """The name of an owner as the command line spells it: 1.0 is 1."""
    if isinstance(name, (float, np.floating)) and float(name).is_integer():
        return str(int(name))
    return str(name)


def payout(
    owners: Any,
    budget: float,
    *,
    unit: float = 0.01,
    basis: str = "shapley",
    negative: str = "clip",
    floor: float | None = None,
    cap: float | None = None,
    min_rows: int | None = None,
    seed: int = 0,
    by: str | None = None,
    manifest: str | os.PathLike[Any] | None = None,
) -> Payout:
    """Divides a budget between owners, to the last unit.

    Parameters
    ----------
    owners : Owners, mapping or path
        The result of `dshap.owners`; values by name; or a file written by `dshap owners` or `dshap value --by`.
    budget : float
        The amount to divide.
    unit : float
        The smallest amount that can be paid.
    basis : {'shapley', 'given-own', 'rows'}
        What owners are paid for.
    negative : {'clip', 'keep'}
        Whether an owner of negative value receives nothing, or pays.
    floor, cap : float, optional
        The least and the most that each owner receives.
    min_rows : int, optional
        Owners with fewer rows receive nothing.
    seed : int
        Decides between equal remainders of equal values, and selects the draws of standard errors.
    by : str, optional
        The column of owners in a file of row values.
    manifest : path, optional
        Where a receipt is written. Needs a file as `owners`, which `verify` can read again.

    Returns
    -------
    Payout

    Examples
    --------
    >>> import dshap
    >>> dshap.payout({"ann": 2.0, "bob": 1.0}, 100).payout.tolist()
    [66.67, 33.33]
    """
    defaults = {"budget", "unit", "basis", "negative", "floor", "cap", "min_rows", "seed"}
    given = {name: value for name, value in locals().items() if name in defaults}
    for name in ("budget", "unit", "floor", "cap"):
        given[name] = None if given[name] is None else float(given[name])
    if isinstance(owners, (str, os.PathLike)):
        if by is not None and basis == "shapley":
            given["basis"] = None
        options = SimpleNamespace(_DEFAULTS=defaults, **given)
        text, warnings = _dshap.payout_by_file(os.fspath(owners), by, options, manifest)
    else:
        if manifest is not None:
            raise InputError("a receipt needs a file that can be read again; give the path of a table of owners")
        options = SimpleNamespace(_DEFAULTS=defaults, **given)
        lines, covariance = _lines(owners, basis)
        text, warnings = _dshap.payout(lines, covariance, options)
    issue(warnings)
    return Payout(json.loads(text))


#: Name, rows if they are known, value and its standard error.
_Line = tuple[str, "int | None", float, "float | None"]


def _lines(owners: Any, basis: str) -> tuple[list[_Line], Any]:
    """The owners, and covariances of their values."""
    if isinstance(owners, Mapping):
        return [(_spelled(name), None, float(value), None) for name, value in owners.items()], None
    if not isinstance(owners, Owners):
        raise InputError("give the result of dshap.owners, values by name, or the path of a table")
    name = {"given-own": "given_own", "rows": "row_sum"}.get(basis, basis)
    values: NDArray[Any] | None = getattr(owners, name, None)
    if values is None:
        raise InputError(f"the owners have no `{name}`")
    errors = {
        "shapley": owners.stderr,  # type: ignore[attr-defined]
        "given-own": owners.given_own_stderr,  # type: ignore[attr-defined]
        "rows": owners.row_sum_stderr,  # type: ignore[attr-defined]
    }.get(basis)
    stderr = [None] * len(owners) if errors is None else [float(error) for error in errors]
    columns = zip(owners.owner, owners.rows, values, stderr)  # type: ignore[attr-defined]
    lines: list[_Line] = [(str(owner), int(n), float(value), error) for owner, n, value, error in columns]
    covariance = {"shapley": "covariance", "given-own": "given_own_covariance", "rows": "row_sum_covariance"}.get(basis)
    return lines, None if covariance is None else owners.report.get(covariance)


def verify(manifest: str | os.PathLike[Any]) -> list[str]:
    """Computes what a receipt is about again and says what differs.

    Parameters
    ----------
    manifest : path
        A receipt written by `dshap owners --manifest`, `dshap payout --manifest` or `dshap.payout(manifest=...)`.

    Returns
    -------
    list of str
        What differs; empty if the receipt is right.
    """
    return [text for text, is_fault in _dshap.verify(os.fspath(manifest)) if is_fault]
