"""Jobs: a pass over all rows, parts merged in a tree, values appended.

Functions that executors run are made here from plain bytes, so that they can be sent.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import functions as F

from dshap import _spread
from dshap._errors import DshapError
from dshap._spread import BLOCK_ROWS, Pass, Roles
from dshap.spark._columns import free_name, quoted, selected

#: What a task of a pass returns. `error` has the message of rows that cannot be used.
PARTS = "place long, part binary, error string"

#: With more partitions than this, parts are merged on executors before they go to the driver.
MOST_PARTS = 32

#: Groups of parts that executors merge, where the number of partitions is not known.
GROUPS = 8

#: The share of the task's number in `monotonically_increasing_id`.
TASK_BITS = 33


class Rows:
    """A DataFrame, the roles of its columns, and how its rows are numbered."""

    def __init__(self, df: Any, roles: Roles, row: str | None = None, n_jobs: int | None = 1) -> None:
        self.df, self.roles, self.row, self.n_jobs = df, roles, row, n_jobs
        self.level = _spread.group_level(len(roles.features))
        self._starts: dict[int, int] | None = None

    def part(self, waiting: Pass) -> bytes:
        """The merged part of a pass."""
        if self.row is None:
            parts = self._by_partition(waiting)
        else:
            parts = self._by_number(waiting)
        return collected(waiting, parts, n_partitions(self.df))

    def starts(self) -> dict[int, int]:
        """The number of the first row of each partition, in the order of partitions."""
        if self._starts is None:
            task, counted = free_name(self.df, "task"), free_name(self.df, "n")
            tasks = self.df.select(F.shiftright(F.monotonically_increasing_id(), TASK_BITS).alias(task))
            counts = {int(line[0]): int(line[1]) for line in tasks.groupBy(task).agg(F.count("*").alias(counted)).collect()}
            self._starts, start = {}, 0
            for partition in sorted(counts):
                self._starts[partition] = start
                start += counts[partition]
        return self._starts

    def _by_partition(self, waiting: Pass) -> Any:
        starts = self.starts() if waiting.needs_numbers else None
        task = free_name(self.df, "__dshap_task")
        rows = selected(self.df, self.roles.read(for_fit=True))
        rows = rows.withColumn(task, F.monotonically_increasing_id())
        return rows.mapInArrow(sum_partition(waiting, self.roles, task, starts, self.n_jobs), PARTS)

    def _by_number(self, waiting: Pass) -> Any:
        rows, group = self.grouped(self.roles.read(for_fit=True))
        work = sum_group(waiting, self.roles, str(self.row), self.level, self.n_jobs)
        return rows.groupBy(group).applyInArrow(work, PARTS)

    def grouped(self, columns: list[str]) -> tuple[Any, str]:
        """Some columns, the number of the row, and the number of the group that it is in."""
        row = str(self.row)
        rows = selected(self.df, list(dict.fromkeys([*columns, row])))
        rows = rows.withColumn(row, F.col(quoted(row)).cast("long"))
        group = free_name(rows, "__dshap_group")
        return rows.withColumn(group, F.floor(F.col(quoted(row)) / (BLOCK_ROWS << self.level)).cast("long")), group


def n_partitions(df: Any) -> int | None:
    """The number of partitions, where the engine says it."""
    try:
        return int(df.rdd.getNumPartitions())
    except Exception:  # Spark Connect and Sail have no RDDs.
        return None


def collected(waiting: Pass, parts: Any, partitions: int | None) -> bytes:
    """One part of all: merged on executors where there are many, then here."""
    if partitions is None or partitions > MOST_PARTS:
        groups = GROUPS if partitions is None else max(2, int(partitions**0.5))
        parts = parts.withColumn("__group", F.pmod(F.col("place"), F.lit(groups)))
        parts = parts.groupBy("__group").applyInArrow(merge_parts(waiting), PARTS)
    lines = parts.collect()
    for line in lines:
        if line["error"] is not None:
            _spread.raise_message(line["error"])
    found = [bytes(line["part"]) for line in sorted(lines, key=lambda line: line["place"]) if line["part"] is not None]
    if not found:
        raise DshapError("there are no rows")
    return _spread.merged(waiting, found)


def _line(place: int, part: bytes | None = None, error: str | None = None) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(
        [pa.array([place], pa.int64()), pa.array([part], pa.binary()), pa.array([error], pa.string())],
        names=["place", "part", "error"],
    )


def sum_partition(
    waiting: Pass, roles: Roles, task: str, starts: dict[int, int] | None, n_jobs: int | None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Sums the rows of a partition."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        batches = (batch for batch in batches if batch.num_rows)
        first = next(batches, None)
        if first is None:
            return
        place = first.column(first.schema.get_field_index(task))[0].as_py() >> TASK_BITS

        def rows() -> Iterator[Any]:
            for batch in itertools.chain([first], batches):
                yield pa.Table.from_batches([batch]).drop_columns([task])

        try:
            start = 0 if starts is None else starts[place]
            yield _line(place, _spread.summed_partition(waiting, roles, rows(), place, start, n_jobs))
        except DshapError as error:
            yield _line(place, error=_spread.message_of(error))

    return work


def sum_group(waiting: Pass, roles: Roles, row: str, level: int, n_jobs: int | None) -> Callable[[Any, Any], Any]:
    """Sums the rows of a group in their order."""

    def work(key: Any, table: Any) -> Any:
        import pyarrow as pa

        group = key[0].as_py()
        if group is None or group < 0:
            line = _line(-1, error=f"input:column `{row}` has a missing or negative cell; it should number the rows from 0 on")
            return pa.Table.from_batches([line])
        rows = table.select([name for name in table.schema.names if name == row or name in roles.read(for_fit=True)])
        try:
            line = _line(group, _spread.summed_group(waiting, roles, rows, row, group, level, n_jobs))
        except DshapError as error:
            line = _line(group, error=_spread.message_of(error))
        return pa.Table.from_batches([line])

    return work


def merge_parts(waiting: Pass) -> Callable[[Any, Any], Any]:
    """Merges some parts on an executor."""

    def work(key: Any, table: Any) -> Any:
        import pyarrow as pa

        lines = sorted(table.select(["place", "part", "error"]).to_pylist(), key=lambda line: line["place"])
        failed = [line for line in lines if line["error"] is not None]
        if failed:
            return pa.Table.from_batches([_line(failed[0]["place"], error=failed[0]["error"])])
        try:
            part = _spread.merged(waiting, [line["part"] for line in lines])
            return pa.Table.from_batches([_line(lines[0]["place"], part)])
        except DshapError as error:
            return pa.Table.from_batches([_line(lines[0]["place"], error=_spread.message_of(error))])

    return work
