"""Rows, values and owners as one page of HTML."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dshap import _dshap
from dshap._errors import DshapError, InputError
from dshap._groups import owners_of
from dshap._names import named_columns

if TYPE_CHECKING:
    from dshap._base import BaseValuer
    from dshap._values import Values


def report(
    found: Any,
    y: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    by: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    test: Any = None,
    task: str | None = None,
    **options: Any,
) -> str:
    """One page of HTML that shows rows, values or owners: charts, tables, and what to see in them.

    Rows, and a valuer that was fitted to rows, give the page of the command `dshap report`: how good the model is,
    whether assumptions are met, why rows stand out, and what cleaning would do. The page needs no network, and embeds
    bins and a few dozen rows, never all rows.

    Parameters
    ----------
    found : array, frame, valuer, Values or Owners
        Rows X; a fitted valuer, for the rows it was fitted to; or what `explain` or `dshap.owners` returned, which
        tells nothing about the model.
    y : array_like, optional
        The targets of rows X. Without them the page is about a density. With anything but rows, the second argument is
        `path`.
    path : path, optional
        Where the page is written, too.
    title : str, optional
        What the page is about.
    by : array_like of shape (n_rows,), optional
        The owner of each row.
    sample_weight : array_like, optional
        Weights of rows X.
    test : tuple (X, y), optional
        Test rows that rows X are valued for.
    task : {'regression', 'classification', 'density'}, optional
        By default guessed: classification if y is text, boolean or two-valued.
    **options
        Parameters of the estimator for rows X, such as `method='calibrated'`.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> import dshap
    >>> X, y = dshap.datasets.gaussian_r(100, 3, seed=5)
    >>> page = dshap.report(X, y, title="my rows")
    >>> "Values of my rows" in page and "Quality of the model" in page
    True
    >>> valuer = dshap.RegressionValuer("calibrated").fit(X, y)
    >>> page = dshap.report(valuer)
    >>> page = dshap.report(valuer.explain_training(), title="values alone")
    """
    from dshap._base import BaseValuer
    from dshap._owners import Owners
    from dshap._values import Values

    if isinstance(found, (BaseValuer, Values, Owners)):
        if y is not None and path is None:
            y, path = None, y
        given = {"y": y, "sample_weight": sample_weight, "test": test, "task": task, **options}
        too_much = [name for name, value in given.items() if value is not None]
        if too_much:
            raise InputError(f"`{too_much[0]}` is for rows, and a {type(found).__name__} has been made of rows already")
    if isinstance(found, Owners):
        if by is not None:
            raise InputError("`by` is for values; owners have owners already")
        page = _dshap.owners_page(title or "owners", json.dumps(found.report))
    elif isinstance(found, Values):
        page = _of_values(found, title or "rows", by)
    elif isinstance(found, BaseValuer):
        page = _of_valuer(found, title or "rows", by)
    elif isinstance(found, (list, tuple)) and y is None:
        raise InputError("give rows, a fitted valuer, or the result of `explain`, of `explain_training` or of `dshap.owners`")
    else:
        page = _of_valuer(_fitted(found, y, sample_weight, test, task, options), title or "rows", by)
    if path is not None:
        Path(path).write_text(page, encoding="utf-8")
    return page


def _fitted(X: Any, y: Any, sample_weight: Any, test: Any, task: str | None, options: dict[str, Any]) -> BaseValuer:
    """A valuer of rows, for the task that the target asks for."""
    from dshap import _sets, _spread

    if task is None:
        task = _dshap.task_of(_sets.rows(X, y, None, None).table)
    kinds = _spread.VALUERS
    if task not in kinds:
        raise InputError(f"task={task!r} is none of {', '.join(map(repr, kinds))}")
    valuer = kinds[task](**options)
    told = {name: value for name, value in (("sample_weight", sample_weight), ("test", test)) if value is not None}
    rows = (X,) if task == "density" else (X, y)
    fitted: BaseValuer = valuer.fit(*rows, **told)
    return fitted


def _of_valuer(valuer: BaseValuer, title: str, by: ArrayLike | None) -> str:
    """The page of the rows that a valuer was fitted to. They are valued again, so its warnings are on the page."""
    valuer._check()
    if getattr(valuer, "estimator", None) is not None:
        raise InputError(
            "a report fits its model again, and does not know that of `estimator`; give the result of `explain_training`"
        )
    if "_training" not in valuer.__dict__:
        raise DshapError(
            "the rows of the reference were not kept: `fit` keeps them with keep_training=True, until `partial_fit`; a "
            "merged, loaded or unpickled estimator has none"
        )
    table, _, _ = valuer._training
    tests, is_population = valuer._training_tests
    categorical = named_columns(valuer.categorical, table.names, valuer._names)
    owner = None if by is None else _dshap.spelled([str(name) for name in owners_of(by, len(table))])
    command = f"dshap.report({valuer!r}.fit(X{'' if table.target is None else ', y'}))"
    with valuer._bar() as bar:
        return _dshap.report_page(
            table, valuer, categorical, title, command, owner, tests, is_population, valuer._threads(), bar
        )


def _of_values(values: Values, title: str, by: ArrayLike | None) -> str:
    columns: dict[str, Any] = {name: cells for name, cells in values._columns().items() if name not in ("row", "note")}
    if values._labels is not None and list(values._labels) != values.row.tolist():
        # The names of rows in the frame, unless they are its row numbers.
        columns = {"index": np.asarray(values._labels).astype(str).astype(object), **columns}
    shown = [(name, _cells(np.asarray(cells))) for name, cells in columns.items()]
    owner = None if by is None else _dshap.spelled([str(name) for name in owners_of(by, len(values))])
    return _dshap.values_page(title, np.ascontiguousarray(values.row, dtype=np.int64), shown, owner)


def _cells(cells: Any) -> Any:
    """Numbers as doubles; everything else, such as labels, as text."""
    if np.issubdtype(cells.dtype, np.number):
        return np.ascontiguousarray(cells, dtype=np.float64)
    return [None if cell is None else str(cell) for cell in cells.tolist()]
