"""Fits and values of rows that lie on several machines, whatever engine runs them.

A driver asks `Passes` for the next pass; an engine sums the rows of each partition with
`summed_partition` or `summed_group`, merges the parts with `merged` in any tree, and hands
the whole back. Functions that run on executors are plain functions of Arrow data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dshap import _dshap
from dshap._classification import ClassificationValuer
from dshap._density import DensityValuer
from dshap._errors import DshapError, InputError, InputTypeError
from dshap._names import Names
from dshap._regression import RegressionValuer

#: Rows of a block, which is always summed by one thread.
BLOCK_ROWS = 4096

#: Bytes of the rows of a group whose order is fixed, and the most blocks in it.
GROUP_BYTES, MOST_BLOCKS = 64 << 20, 16

VALUERS: dict[str, type[Any]] = {
    "regression": RegressionValuer,
    "classification": ClassificationValuer,
    "density": DensityValuer,
}


class Roles(NamedTuple):
    """Which column of a table has which role."""

    features: tuple[str, ...]
    target: str | None = None
    weight: str | None = None
    owner: str | None = None
    #: A column of arrays that holds all features, and their number.
    array: tuple[str, int] | None = None

    def read(self, *, for_fit: bool) -> list[str]:
        """The columns that executors need."""
        features = [self.array[0]] if self.array else list(self.features)
        more = [self.target] + ([self.weight, self.owner] if for_fit else [])
        return list(dict.fromkeys(features + [column for column in more if column]))


class Pass(NamedTuple):
    """A pass over all rows."""

    plan: bytes
    valuer: bytes | None
    name: str
    needs_numbers: bool
    of_tests: bool


def fit(
    estimator: Any,
    roles: Roles,
    columns: Any,
    run: Callable[[Pass], bytes],
    *,
    has_tests: bool = False,
) -> Any:
    """Fits an estimator of this package; `run` sums a pass and returns its merged part.

    `columns` is an Arrow table of one row whose types are those of the rows.
    """
    categorical = [str(column) for column in estimator.categorical or []]
    unknown = [column for column in categorical if column not in roles.features]
    if unknown:
        raise InputError(f"`categorical` names {unknown[0]!r}, which is not a feature")
    driver = _dshap.Spread(
        columns, estimator, list(roles.features), roles.target, roles.weight, roles.owner, categorical, has_tests
    )
    while (waiting := driver.next_pass()) is not None:
        driver.take(run(Pass(*waiting)))
    fitted = driver.finish()
    estimator._adopt(fitted, Names(list(roles.features), True))
    estimator._fitted_params = estimator.get_params(deep=False)
    estimator._warn(fitted.warnings)
    return estimator


def load(data: bytes) -> Any:
    """The fitted estimator in the bytes of a valuer file."""
    fitted = _dshap.Valuer.from_bytes(data)
    return VALUERS[fitted.task]._of_fitted(fitted)


def group_level(n_columns: int) -> int:
    """Rows whose order is fixed come in groups of 2^level blocks."""
    most = max(1, min(MOST_BLOCKS, GROUP_BYTES // (8 * (n_columns + 2) * BLOCK_ROWS)))
    return most.bit_length() - 1


def unpacked(table: Any, roles: Roles) -> Any:
    """The table with a column for each feature, if they came in one column of arrays."""
    import pyarrow as pa

    if roles.array is None:
        return table
    name, length = roles.array
    column = table.column(name)
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_struct(column.type):
        column = _vectors(column, name, length)
    lengths = column.value_lengths()
    if column.null_count:
        raise InputError(f"column `{name}` has a missing cell; every row needs {length} features")
    wrong = [found for found in lengths.unique().to_pylist() if found != length]
    if wrong:
        raise InputError(f"column `{name}` holds {length} features in the first row and {wrong[0]} in another")
    cells = column.flatten().to_numpy(zero_copy_only=False).astype(np.float64, copy=False).reshape(-1, length)
    arrays = {feature: np.ascontiguousarray(cells[:, j]) for j, feature in enumerate(roles.features)}
    others = {other: table.column(other) for other in table.schema.names if other != name}
    return pa.table({**arrays, **others})


def _vectors(column: Any, name: str, length: int) -> Any:
    """The dense form of a column of Spark's vectors, which come as structures."""
    import pyarrow as pa

    rows = []
    for cell in column.to_pylist():
        if cell is None:
            raise InputError(f"column `{name}` has a missing cell; every row needs {length} features")
        if cell["type"] == 1:
            rows.append(cell["values"])
        else:
            dense = [0.0] * (cell["size"] or 0)
            for place, value in zip(cell["indices"], cell["values"]):
                dense[place] = value
            rows.append(dense)
    return pa.array(rows, pa.list_(pa.float64()))


def summed_partition(
    waiting: Pass, roles: Roles, batches: Iterable[Any], place: int, first_row: int = 0, n_jobs: int | None = 1
) -> bytes:
    """The part of a partition whose rows may come in any order."""
    rows = (unpacked(batch, roles) for batch in batches if batch.num_rows)
    return _dshap.part_of(waiting.plan, waiting.valuer, rows, place, None, first_row, n_jobs)


def summed_group(
    waiting: Pass, roles: Roles, table: Any, row: str, group: int, level: int, n_jobs: int | None = 1
) -> bytes:
    """The part of a group of rows that are numbered."""
    table, first = in_order(table, row, group, level)
    return _dshap.part_of(waiting.plan, waiting.valuer, [unpacked(table, roles)], group, level, first, n_jobs)


def in_order(table: Any, row: str, group: int, level: int) -> tuple[Any, int]:
    """The rows of a group in the order of their numbers, and the first number."""
    first = group * (BLOCK_ROWS << level)
    table = table.sort_by(row)
    numbers = table.column(row).to_numpy()
    expected = np.arange(first, first + len(numbers))
    if not np.array_equal(numbers, expected):
        at = int(np.flatnonzero(numbers != expected)[0])
        raise InputError(
            f"column `{row}` should number the rows 0, 1, 2 and so on: {int(expected[at])} is expected, and "
            f"{numbers[at]} is found"
        )
    return table.drop_columns([row]), first


def merged(waiting: Pass, parts: list[bytes]) -> bytes:
    """One part of several."""
    return bytes(parts[0]) if len(parts) == 1 else _dshap.merged_part(waiting.plan, [bytes(part) for part in parts])


def message_of(error: BaseException) -> str:
    """An error as it travels from an executor."""
    kind = "type" if isinstance(error, InputTypeError) else "input" if isinstance(error, InputError) else "other"
    return f"{kind}:{error}"


def raise_message(message: str) -> None:
    """Raises the error that an executor reported."""
    kind, _, text = message.partition(":")
    raise {"type": InputTypeError, "input": InputError}.get(kind, DshapError)(text)


# What executors have loaded: one valuer at a time, which is used by many tasks.
_loaded: tuple[str, Any] | None = None


def loaded(data: bytes) -> Any:
    """The engine's valuer in the bytes of a file, kept for the next task."""
    global _loaded
    key = hashlib.sha256(data).hexdigest()
    if _loaded is None or _loaded[0] != key:
        _loaded = (key, _dshap.Valuer.from_bytes(data))
    return _loaded[1]


def value_columns(valuer: Any, *, std_error: bool, parts: bool) -> list[str]:
    """Names of the columns that values come in, the value first."""
    names = ["value"] + (["stderr"] if std_error else [])
    return names + [*_dshap.part_names(valuer._fitted), "note"] if parts else names


def valued(
    data: bytes,
    roles: Roles,
    table: Any,
    names: list[str],
    *,
    leave_one_out: bool = False,
    first_row: int | None = None,
    n_jobs: int | None = 1,
) -> dict[str, Any]:
    """Values of rows and what comes with them, column by column."""
    std_error, parts = "stderr" in names, "note" in names
    found = _dshap.value_rows(loaded(data), unpacked(table, roles), leave_one_out, first_row, std_error, parts, n_jobs)
    notes = dict(found.pop("notes"))
    columns: dict[str, Any] = {}
    for name in names:
        if name == "note":
            columns[name] = [notes.get(row) for row in range(table.num_rows)]
        else:
            columns[name] = found.get(name)
    return columns


def shards(n_tests: int, n_shards: int) -> Iterator[tuple[int, int]]:
    """Ranges of test rows, about equally long."""
    n_shards = max(1, min(n_shards, n_tests))
    ends = [n_tests * shard // n_shards for shard in range(n_shards + 1)]
    return zip(ends[:-1], ends[1:])
