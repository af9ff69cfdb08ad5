"""Values of rows in a Ray dataset, by the passes of `dshap.spark`.

>>> import ray, dshap.ray                                          # doctest: +SKIP
>>> rows = ray.data.read_parquet("rows/")
>>> valuer = dshap.ray.fit(rows, "price")
>>> dshap.ray.value(rows, valuer, leave_one_out=True).write_parquet("values/")

Rows of a dataset have no order that lasts, so results equal those of one machine up to rounding. A column that
numbers the rows (`row`) fixes the order, and with it the bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dshap import _checks, _spread
from dshap._catalogue import is_of_neighbours
from dshap._errors import DshapError, InputError
from dshap._spread import BLOCK_ROWS, Pass, Roles

__all__ = ["fit", "value"]

#: What a task of a pass returns.
PART, ERROR = "part", "error"


def fit(
    dataset: Any,
    target: str | None = None,
    *,
    task: str | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    exclude: Sequence[str] = (),
    row: str | None = None,
    n_jobs: int | None = 1,
    **params: Any,
) -> Any:
    """Fit the rows of a dataset.

    Parameters
    ----------
    dataset : ray.data.Dataset
        The reference.
    target : str, optional
        The column that is predicted; without one, a density is estimated.
    task : {'regression', 'classification', 'density'}, optional
        Guessed from the target: classification if it is text, boolean or has two values.
    features : list of str, optional
        By default all columns without another role.
    weight : str, optional
        The column of weights.
    exclude : list of str
        Columns that are no features.
    row : str, optional
        A column that numbers the rows 0, 1, 2 and so on. Densities need it.
    n_jobs : int, optional
        Threads of a task.
    **params
        Parameters of the estimator, such as `method` and `m`.

    Returns
    -------
    RegressionValuer, ClassificationValuer or DensityValuer
        Of `dshap` itself, fitted.
    """
    types = types_of(dataset)
    others = [column for column in (target, weight, row, *exclude) if column is not None]
    names = [name for name in types.schema.names if name not in others] if features is None else list(features)
    for name in (*names, *others):
        if name not in types.schema.names:
            raise InputError(f"there is no column `{name}`; the dataset has {', '.join(types.schema.names[:20])}")
    roles = Roles(tuple(names), target, weight)
    if task is not None and task not in _spread.VALUERS:
        raise InputError(f"`task` is {task!r}; expected 'regression', 'classification', 'density' or None")
    kind = _spread.VALUERS[task or task_of(types, target, dataset)]
    estimator = kind(**params)
    rows = dataset.select_columns(roles.read(for_fit=True) + ([row] if row else []))

    def run(waiting: Pass) -> bytes:
        if waiting.needs_numbers and row is None:
            raise InputError("a density draws its sample by the numbers of the rows; name a column that numbers them: row=")
        parts = numbered(rows, waiting, roles, row, n_jobs) if row else unnumbered(rows, waiting, roles, n_jobs)
        merged = parts.aggregate(merge_aggregate(waiting))
        found = next(iter(merged.values()))
        if found is None:
            raise DshapError("there are no rows")
        kind, content = found[:1], found[1:]
        if kind == b"e":
            _spread.raise_message(content.decode())
        return bytes(content)

    return _spread.fit(estimator, roles, types.select(roles.read(for_fit=True)), run)


def value(
    dataset: Any,
    valuer: Any,
    *,
    leave_one_out: bool = False,
    value_column: str = "value",
    std_error: bool = False,
    parts: bool = False,
    n_jobs: int | None = 1,
) -> Any:
    """Append the values of rows to a dataset.

    Parameters
    ----------
    dataset : ray.data.Dataset
        With the columns of the reference.
    valuer : fitted estimator of dshap
        As `fit` returns it.
    leave_one_out : bool
        The rows are the reference: each is valued against the others. Not for densities and nearest neighbours.
    value_column : str
        The name of the column of values.
    std_error, parts : bool
        Also append standard errors; what explains the values.
    n_jobs : int, optional
        Threads of a task.

    Returns
    -------
    ray.data.Dataset
        Nothing is computed before it is used.
    """
    valuer._check()
    if leave_one_out and (valuer._TASK == "density" or is_of_neighbours(valuer.method)):
        raise InputError("leave-one-out values of densities and nearest neighbours go by numbers of rows; use dshap.spark")
    facts = valuer._fitted.facts()
    roles = Roles(tuple(facts["features"]), facts["target"])
    names = _spread.value_columns(valuer, std_error=_checks.flag("std_error", std_error), parts=_checks.flag("parts", parts))
    columns = [value_column if name == "value" else name for name in names]
    schema = dataset.schema()
    taken = [column for column in columns if schema is not None and column in schema.names]
    if taken:
        raise InputError(f"the dataset has a column `{taken[0]}` already; drop it, or choose another value_column")
    data = valuer._fitted.to_bytes()

    def append(table: Any) -> Any:
        import pyarrow as pa

        # Rows of the reference may need their weights, whose column only the valuer knows.
        needed = table if leave_one_out else table.select(roles.read(for_fit=False))
        found = _spread.valued(data, roles, needed, names, leave_one_out=leave_one_out, n_jobs=n_jobs)
        for name, column in zip(names, columns):
            cells = found[name]
            array = pa.array(cells, pa.string()) if name == "note" else pa.array(cells, pa.float64(), mask=np.isnan(cells))
            table = table.append_column(column, array)
        return table

    return dataset.map_batches(append, batch_format="pyarrow")


def types_of(dataset: Any) -> Any:
    """An Arrow table of one empty row, whose types are those of the columns."""
    import pyarrow as pa

    schema = dataset.schema()
    if schema is None:
        raise DshapError("there are no rows")
    return pa.table({name: pa.nulls(1, kind) for name, kind in zip(schema.names, schema.types)})


#: Labels that a target of numbers has if it holds labels at all.
TWO = 2


def task_of(types: Any, target: str | None, dataset: Any = None) -> str:
    """The task that a target asks for."""
    import pyarrow as pa

    if target is None or target not in types.schema.names:
        return "density" if target is None else "regression"
    kind = types.schema.field(target).type
    is_label = pa.types.is_boolean(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)
    if is_label or dataset is None:
        return "classification" if is_label else "regression"

    def some(table: Any) -> Any:
        # Three values say already that there are more than two.
        return pa.table({target: table.column(target).drop_null().unique()[: TWO + 1]})

    found = dataset.select_columns([target]).map_batches(some, batch_format="pyarrow").take_all()
    values = {line[target] for line in found if line[target] == line[target]}
    return "classification" if len(values) == TWO else "regression"


def _line(part: bytes | None = None, error: str | None = None) -> Any:
    import pyarrow as pa

    return pa.table({PART: pa.array([part], pa.binary()), ERROR: pa.array([error], pa.string())})


def unnumbered(rows: Any, waiting: Pass, roles: Roles, n_jobs: int | None) -> Any:
    """Parts of blocks of rows in any order."""

    def work(table: Any) -> Any:
        try:
            return _line(_spread.summed_partition(waiting, roles, [table], 0, 0, n_jobs))
        except DshapError as error:
            return _line(error=_spread.message_of(error))

    return rows.map_batches(work, batch_format="pyarrow", batch_size=None)


def numbered(rows: Any, waiting: Pass, roles: Roles, row: str, n_jobs: int | None) -> Any:
    """Parts of groups of rows in their order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    level = _spread.group_level(len(roles.features))
    group = "__dshap_group"

    def place(table: Any) -> Any:
        numbers = pc.divide(pc.cast(table.column(row), pa.int64()), BLOCK_ROWS << level)
        return table.append_column(group, numbers)

    def work(table: Any) -> Any:
        number = table.column(group)[0].as_py()
        try:
            return _line(_spread.summed_group(waiting, roles, table.drop_columns([group]), row, number, level, n_jobs))
        except DshapError as error:
            return _line(error=_spread.message_of(error))

    return rows.map_batches(place, batch_format="pyarrow").groupby(group).map_groups(work, batch_format="pyarrow")


def merge_aggregate(waiting: Pass) -> Any:
    """An aggregate that merges parts: `p` and a part, or `e` and a message."""
    from ray.data.aggregate import AggregateFn

    def add(so_far: list[bytes], line: Any) -> list[bytes]:
        return [*so_far, b"e" + line[ERROR].encode() if line[ERROR] is not None else b"p" + line[PART]]

    def finish(found: list[bytes]) -> bytes | None:
        failed = [one for one in found if one[:1] == b"e"]
        if failed or not found:
            return failed[0] if failed else None
        return b"p" + _spread.merged(waiting, [one[1:] for one in found])

    def merge(one: list[bytes], two: list[bytes]) -> list[bytes]:
        both = [*one, *two]
        return both if len(both) < 16 else [found for found in [finish(both)] if found is not None]

    return AggregateFn(init=lambda _: [], accumulate_row=add, merge=merge, finalize=finish, name=PART)
