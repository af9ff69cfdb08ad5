"""Values and owners as one page of HTML."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dshap import _dshap
from dshap._errors import InputError
from dshap._groups import owners_of

if TYPE_CHECKING:
    from dshap._owners import Owners
    from dshap._values import Values


def report(
    found: Values | Owners,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    by: ArrayLike | None = None,
) -> str:
    """One page of HTML that shows values or owners: charts, tables, and what to see in them.

    The page needs no network, and embeds bins and a few dozen rows, never all rows. The command `dshap report` makes
    it from a table, and then also says how good the model is, why rows stand out, and what cleaning would do.

    Parameters
    ----------
    found : Values or Owners
        What `value`, `explain` or `dshap.owners` returned.
    path : path, optional
        Where the page is written, too.
    title : str, optional
        What the page is about.
    by : array_like of shape (n_rows,), optional
        The owner of each row of `found`, whose values are summed.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> import dshap
    >>> X, y = dshap.datasets.gaussian_r(100, 3, seed=5)
    >>> values = dshap.RegressionValuer().fit(X, y).explain_training()
    >>> page = dshap.report(values, title="my rows")
    >>> "Values of my rows" in page
    True
    """
    from dshap._owners import Owners
    from dshap._values import Values

    if isinstance(found, Owners):
        if by is not None:
            raise InputError("`by` is for values; owners have owners already")
        page = _dshap.owners_page(title or "owners", json.dumps(found.report))
    elif isinstance(found, Values):
        page = _of_values(found, title or "rows", by)
    else:
        raise InputError("give the result of `explain`, of `explain_training` or of `dshap.owners`")
    if path is not None:
        Path(path).write_text(page, encoding="utf-8")
    return page


def _of_values(values: Values, title: str, by: ArrayLike | None) -> str:
    columns: dict[str, Any] = {name: cells for name, cells in values._columns().items() if name not in ("row", "note")}
    numbers = [
        (name, np.ascontiguousarray(cells, dtype=np.float64))
        for name, cells in columns.items()
        if np.issubdtype(np.asarray(cells).dtype, np.number)
    ]
    owner = None if by is None else _dshap.spelled([str(name) for name in owners_of(by, len(values))])
    return _dshap.values_page(title, np.ascontiguousarray(values.row, dtype=np.int64), numbers, owner)
