"""Values appended to a DataFrame, partition by partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from pyspark.sql import functions as F
from pyspark.sql import types as T

from dshap import _dshap, _spread
from dshap._catalogue import is_of_neighbours
from dshap._errors import InputError
from dshap._spread import Roles
from dshap.spark._columns import is_vector, quoted
from dshap.spark._jobs import Rows

#: Test rows are shared between this many tasks, if the engine does not say how many cores it has.
SHARDS = 8


class Wanted(NamedTuple):
    """What is appended."""

    value: str = "value"
    std_error: bool = False
    parts: bool = False


class Appending(NamedTuple):
    """What a task appends: values by the engine's names, under the names of the columns."""

    data: bytes
    roles: Roles
    names: list[str]
    leave_one_out: bool
    is_whole: bool  #: all rows of a partition at once, which nearest neighbours want
    n_jobs: int | None


def appended(rows: Rows, valuer: Any, wanted: Wanted, *, leave_one_out: bool = False) -> Any:
    """The DataFrame with the value columns; each row against the others if they are the reference."""
    names = _spread.value_columns(valuer, std_error=wanted.std_error, parts=wanted.parts)
    columns = column_names(rows.df, names, wanted.value)
    is_knn = is_of_neighbours(valuer.method)
    what = Appending(valuer._fitted.to_bytes(), rows.roles, names, leave_one_out, is_knn, rows.n_jobs)
    if not leave_one_out or not (is_knn or valuer._TASK == "density"):
        return by_partition(rows, what, columns)
    check_numbered(rows, valuer)
    own = own_values(rows.df, valuer, what, std_error=wanted.std_error) if is_knn else None
    return by_number(rows, what, columns, own)


def check_numbered(rows: Rows, valuer: Any) -> None:
    """Rows of a density or of nearest neighbours are known by numbers, which have to be those of the fit."""
    go_by = "leave-one-out values of densities and nearest neighbours go by the numbers of rows"
    if rows.row is None:
        raise InputError(
            f"{go_by}, and an engine may hand rows over in another order each time: name a column that numbers them 0, 1, "
            "2 and so on, as `row` (of an estimator: `row_col`)"
        )
    if valuer.missing == "drop":
        raise InputError(
            f"{go_by}, so no row may be left out: drop rows with missing cells first, with df.dropna()"
        )
    # Valuers from files do not know.
    fitted_by = getattr(valuer, "_numbered_by", rows.row)
    if fitted_by != rows.row:
        by = "without `row`" if fitted_by is None else f"with `row={fitted_by!r}`"
        raise InputError(f"{go_by}, and the valuer was fitted {by}: fit it with `row={rows.row!r}`")


def column_names(df: Any, names: list[str], value: str) -> list[str]:
    """What the value columns are called. A column of that name that exists already is an error."""
    columns = [value if name == "value" else name for name in names]
    taken = [column for column in columns if column in df.columns]
    if taken:
        raise InputError(f"the DataFrame has a column `{taken[0]}` already; drop it, or choose another value_col")
    return columns


def schema_with(df: Any, names: list[str], columns: list[str]) -> Any:
    """The schema with the value columns."""
    kinds = [T.StringType() if name == "note" else T.DoubleType() for name in names]
    more = [T.StructField(column, kind, True) for column, kind in zip(columns, kinds)]
    fields = [T.StructField(field.name, field.dataType, True) for field in df.schema.fields]
    return T.StructType(fields + more)


def plain(df: Any) -> tuple[Any, dict[str, str]]:
    """The DataFrame with vectors as arrays, and the columns that were vectors."""
    vectors = [field.name for field in df.schema.fields if is_vector(field.dataType)]
    if vectors:
        from pyspark.ml.functions import vector_to_array

        for name in vectors:
            df = df.withColumn(name, vector_to_array(F.col(quoted(name))))
    return df, dict.fromkeys(vectors, "")


def restored(df: Any, vectors: dict[str, str]) -> Any:
    """Arrays that were vectors, as vectors again."""
    for name in vectors:
        from pyspark.ml.functions import array_to_vector

        df = df.withColumn(name, array_to_vector(F.col(quoted(name))))
    return df


def by_partition(rows: Rows, what: Appending, columns: list[str]) -> Any:
    """Values of partitions as they are."""
    df, vectors = plain(rows.df)
    schema = schema_with(df, what.names, columns)
    return restored(df.mapInArrow(append_partition(what, columns), schema), vectors)


def by_number(rows: Rows, what: Appending, columns: list[str], own: Any) -> Any:
    """Values of groups of rows in the order of their numbers."""
    df, vectors = plain(rows.df)
    plainer = Rows(df, rows.roles, rows.row, rows.n_jobs)
    grouped, group = plainer.grouped(list(df.columns))
    schema = schema_with(grouped.drop(group), what.names, columns)
    work = append_group(what, columns, str(rows.row), plainer.level, group, own)
    return restored(grouped.groupBy(group).applyInArrow(work, schema), vectors)


def _with(table: Any, values: dict[str, Any], columns: list[str]) -> Any:
    """The table with the value columns; a row without a value has an empty cell."""
    import pyarrow as pa

    for column, (name, cells) in zip(columns, values.items()):
        if name == "note":
            array = pa.array(cells, pa.string())
        elif cells is None:
            array = pa.nulls(table.num_rows, pa.float64())
        else:
            array = pa.array(cells, pa.float64(), mask=np.isnan(cells))
        table = table.append_column(pa.field(column, array.type), array)
    return table


def _values(what: Appending, table: Any, first_row: int | None, own: Any) -> dict[str, Any]:
    """The values of some rows, which are numbered from `first_row` on if they are known by numbers."""
    if own is not None and first_row is not None:
        place = slice(first_row, first_row + table.num_rows)
        found = {"value": own[0][place], "stderr": None if own[1] is None else own[1][place]}
        return {name: [None] * table.num_rows if name == "note" else found.get(name) for name in what.names}
    # Rows of the reference may need their weights, whose column only the valuer knows.
    needed = table if what.leave_one_out else table.select(what.roles.read(for_fit=False))
    return _spread.valued(
        what.data, what.roles, needed, what.names, leave_one_out=what.leave_one_out, first_row=first_row, n_jobs=what.n_jobs
    )


def append_partition(what: Appending, columns: list[str]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Values the rows of a partition."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        tables: Iterator[Any] = (pa.Table.from_batches([batch]) for batch in batches if batch.num_rows)
        if what.is_whole:
            held = list(tables)
            tables = iter([pa.concat_tables(held)] if held else [])
        for table in tables:
            yield from _with(table, _values(what, table, None, None), columns).to_batches()

    return work


def append_group(
    what: Appending, columns: list[str], row: str, level: int, group: str, own: Any
) -> Callable[[Any, Any], Any]:
    """Values the rows of a group in their order."""

    def work(key: Any, table: Any) -> Any:
        table = table.drop_columns([group]) if group in table.schema.names else table
        number = key[0].as_py()
        rest, first = _spread.in_order(table, row, number, level)
        values = _values(what, rest, first, own)
        return _with(table.sort_by(row), values, columns)

    return work


def own_values(df: Any, valuer: Any, what: Appending, *, std_error: bool) -> Any:
    """Leave-one-out values of a reference of nearest neighbours: test rows are shared between tasks."""
    spark = df.sparkSession
    n_tests = _dshap.n_tests(valuer._fitted)
    try:
        n_tasks = int(spark.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect and Sail have no context.
        n_tasks = SHARDS
    ranges = list(_spread.shards(n_tests, n_tasks))
    shares = spark.createDataFrame(ranges, "start long, end long").repartition(len(ranges))
    means = shares.mapInArrow(mean_share(what.data, what.n_jobs), "means binary").collect()
    total = _dshap.merged_means([np.frombuffer(bytes(line[0]), np.float64) for line in means])
    return _dshap.values_of_means(total, std_error)


def mean_share(data: bytes, n_jobs: int | None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a share of the test rows says about all reference rows."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for line in batch.to_pylist():
                means = _dshap.own_means(_spread.loaded(data), line["start"], line["end"], n_jobs)
                yield pa.RecordBatch.from_arrays([pa.array([means.tobytes()], pa.binary())], names=["means"])

    return work
