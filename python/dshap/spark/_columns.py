"""Columns of a DataFrame: which has which role, checked on the driver before a job starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import types as T

from dshap._errors import InputError, InputTypeError
from dshap._spread import Roles

#: Types of rows' numbers.
WHOLE = (T.LongType, T.IntegerType, T.ShortType, T.ByteType)


def settled(
    df: Any,
    features: str | Sequence[str] | None,
    target: str | None,
    weight: str | None = None,
    owner: str | None = None,
    others: Sequence[str | None] = (),
) -> Roles:
    """The roles of the columns. Without `features`, these are all columns without another role."""
    fields = {field.name: field.dataType for field in df.schema.fields}
    set_aside = [column for column in (target, weight, owner, *others) if column is not None]
    for column in set_aside:
        require(fields, column)
    array = None
    if features is None:
        names = [name for name in fields if name not in set_aside]
        if len(names) == 1 and is_array(fields[names[0]]):
            array, names = array_of(df, names[0])
    elif isinstance(features, str):
        require(fields, features)
        array, names = array_of(df, features) if is_array(fields[features]) else (None, [features])
    else:
        names = [require(fields, name) for name in features]
    if not names:
        raise InputError("no column is left for the features; name them with features_col")
    if target in names:
        raise InputError(f"column `{target}` is both the label and a feature")
    for name in names if array is None else ():
        if is_array(fields[name]):
            raise InputTypeError(
                f"column `{name}` holds arrays; give it alone as features_col={name!r}, or name single columns"
            )
    return Roles(tuple(names), target, weight, owner, array)


def require(fields: dict[str, Any], name: Any) -> str:
    """A column that exists."""
    if not isinstance(name, str):
        raise InputTypeError(f"{name!r} is not the name of a column")
    if name not in fields:
        shown = ", ".join(f"`{field}`" for field in list(fields)[:20])
        raise InputError(f"there is no column `{name}`; the DataFrame has {shown}")
    return name


def is_array(kind: Any) -> bool:
    """Whether cells hold all features."""
    return isinstance(kind, T.ArrayType) or is_vector(kind)


def is_vector(kind: Any) -> bool:
    """Whether cells are vectors of `pyspark.ml`."""
    return isinstance(kind, T.UserDefinedType) and type(kind).__name__ == "VectorUDT"


def array_of(df: Any, name: str) -> tuple[tuple[str, int], list[str]]:
    """A column of arrays or vectors, its length, and the names of its features."""
    kind = df.schema[name].dataType
    if isinstance(kind, T.ArrayType) and not isinstance(kind.elementType, T.NumericType):
        raise InputTypeError(f"column `{name}` holds arrays of {kind.elementType.simpleString()}; numbers are needed")
    first = df.select(name).head()
    if first is None or first[0] is None:
        raise InputError(f"column `{name}` is empty in the first row, so the number of features is not known")
    length = len(first[0])
    return (name, length), [f"{name}_{j}" for j in range(length)]


def check_numbers(df: Any, row: str | None) -> None:
    """Refuses a column that cannot number rows."""
    if row is None:
        return
    fields = {field.name: field.dataType for field in df.schema.fields}
    if not isinstance(fields[require(fields, row)], WHOLE):
        raise InputTypeError(f"column `{row}` is of type {fields[row].simpleString()}; whole numbers number rows")


def free_name(df: Any, name: str) -> str:
    """A name that no column has."""
    while name in df.columns:
        name += "_"
    return name


def selected(df: Any, columns: Sequence[str]) -> Any:
    """Some columns, as executors can read them."""
    from pyspark.sql import functions as F

    chosen = []
    for column in columns:
        if is_vector(df.schema[column].dataType):
            from pyspark.ml.functions import vector_to_array

            chosen.append(vector_to_array(F.col(quoted(column))).alias(column))
        else:
            chosen.append(F.col(quoted(column)))
    return df.select(*chosen)


def quoted(name: str) -> str:
    """A name as SQL wants it."""
    return "`" + name.replace("`", "``") + "`"


def types_of(df: Any, roles: Roles) -> Any:
    """An Arrow table of one empty row, whose types are those of the columns."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name in roles.read(for_fit=True):
        if roles.array and name == roles.array[0]:
            columns.update({feature: pa.nulls(1, pa.float64()) for feature in roles.features})
        else:
            columns[name] = pa.nulls(1, arrow_type(name, df.schema[name].dataType))
    return pa.table(columns)


def arrow_type(name: str, kind: Any) -> Any:
    """The Arrow type of a column."""
    import pyarrow as pa

    simple = {
        T.BooleanType: pa.bool_(),
        T.ByteType: pa.int8(),
        T.ShortType: pa.int16(),
        T.IntegerType: pa.int32(),
        T.LongType: pa.int64(),
        T.FloatType: pa.float32(),
        T.DoubleType: pa.float64(),
        T.StringType: pa.string(),
        T.DateType: pa.date32(),
        T.TimestampType: pa.timestamp("us"),
        T.TimestampNTZType: pa.timestamp("us"),
        T.BinaryType: pa.binary(),
    }
    for spark, arrow in simple.items():
        if isinstance(kind, spark):
            return arrow
    if isinstance(kind, T.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, T.VarcharType | T.CharType):
        return pa.string()
    raise InputTypeError(f"column `{name}` is of type {kind.simpleString()}, which has no meaning as a number")
