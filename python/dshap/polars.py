"""Values in the manner of polars: `df.dshap.value(...)` once this module is imported.

>>> import polars as pl
>>> import dshap.polars
>>> df = pl.DataFrame({"u": [0.1, 0.4, 0.2, 0.9, 0.5, 0.7], "y": [1.0, 2.0, 1.4, 2.9, 2.1, 2.4]})
>>> df.dshap.value("y").columns
['u', 'y', 'value']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from dshap import _spread
from dshap._errors import InputError

__all__ = ["FrameNamespace", "LazyNamespace"]

#: Rows of a batch of a lazy frame.
BATCH_ROWS = 65_536


@pl.api.register_dataframe_namespace("dshap")
class FrameNamespace:
    """Values of the rows of a DataFrame."""

    def __init__(self, df: pl.DataFrame) -> None:
        self._df = df

    def fit(
        self,
        target: str | None = None,
        *,
        task: str | None = None,
        features: Sequence[str] | None = None,
        weight: str | None = None,
        **params: Any,
    ) -> Any:
        """Fit the rows: an estimator of `dshap` for the task, which is guessed from the target."""
        df = self._df
        kind = _spread.VALUERS[task or task_of(df, target)]
        names = features_of(df.columns, target, weight, features)
        valuer = kind(**params)
        if kind is _spread.VALUERS["density"]:
            return valuer.fit(df.select(names))
        return valuer.fit(df.select(names), df[str(target)], None if weight is None else df[weight])

    def value(
        self,
        target: str | None = None,
        *,
        valuer: Any = None,
        task: str | None = None,
        features: Sequence[str] | None = None,
        weight: str | None = None,
        value_column: str = "value",
        parts: bool = False,
        std_error: bool = False,
        **params: Any,
    ) -> pl.DataFrame:
        """Append values: by a fitted valuer, or each row against the others."""
        if value_column in self._df.columns:
            raise InputError(f"the frame has a column `{value_column}` already; drop it, or choose another value_column")
        if valuer is None:
            valuer = self.fit(target, task=task, features=features, weight=weight, **params)
            found = valuer.explain_training(std_error=std_error)
        else:
            found = explained(self._df, valuer, std_error)
        columns = {name: column for name, column in found._columns().items() if name != "row"}
        if not parts:
            columns = {name: column for name, column in columns.items() if name in ("value", "stderr")}
        value = {value_column if name == "value" else name: column for name, column in columns.items()}
        more = [pl.Series(name, list(column) if name == "note" else column, nan_to_null=True) for name, column in value.items()]
        return self._df.with_columns(more)


@pl.api.register_lazyframe_namespace("dshap")
class LazyNamespace:
    """Values of the rows of a LazyFrame, which is collected in batches."""

    def __init__(self, frame: pl.LazyFrame) -> None:
        self._frame = frame

    def value(self, target: str | None = None, *, valuer: Any = None, **options: Any) -> pl.DataFrame:
        """Append values. With a valuer, rows come in batches; without one, all rows are the reference."""
        if valuer is None:
            return self._frame.collect(engine="streaming").dshap.value(target, **options)
        valued = [batch.dshap.value(target, valuer=valuer, **options) for batch in batches(self._frame)]
        return pl.concat(valued) if valued else self._frame.collect()

    def fit(self, target: str | None = None, *, method: str = "gaussian", **options: Any) -> Any:
        """Fit the rows in batches, where the method is a sum over rows; else all at once."""
        return fitted_in_batches(self._frame, target, method=method, **options)


def fitted_in_batches(
    frame: pl.LazyFrame,
    target: str | None,
    *,
    method: str,
    task: str | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    **params: Any,
) -> Any:
    """A fit of a LazyFrame, a pass at a time."""
    schema = frame.collect_schema()
    names = features_of(list(schema), target, weight, features)
    task = task or task_of(frame.select(target).unique().head(3).collect() if target else pl.DataFrame(), target)
    roles = _spread.Roles(tuple(names), target, weight)
    wanted = frame.select(roles.read(for_fit=True))
    types = pl.DataFrame({name: pl.Series([None], dtype=schema[name]) for name in roles.read(for_fit=True)}).to_arrow()
    kind = _spread.VALUERS[task]
    estimator = kind(method="closed" if task == "density" and method == "gaussian" else method, **params)

    def run(waiting: _spread.Pass) -> bytes:
        rows = (batch.to_arrow() for batch in batches(wanted))
        return _spread.summed_partition(waiting, roles, rows, 0, 0, None)

    return _spread.fit(estimator, roles, types, run)


def batches(frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The rows of a LazyFrame, some at a time where polars can do that."""
    if hasattr(frame, "collect_batches"):
        yield from frame.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)
    else:
        yield from frame.collect(engine="streaming").iter_slices(BATCH_ROWS)


def features_of(columns: list[str], target: str | None, weight: str | None, features: Sequence[str] | None) -> list[str]:
    """The features: those named, or all columns without another role."""
    for name in [name for name in (target, weight, *(features or ())) if name is not None]:
        if name not in columns:
            raise InputError(f"there is no column `{name}`; the frame has {', '.join(columns[:20])}")
    return list(features) if features is not None else [name for name in columns if name not in (target, weight)]


def task_of(df: pl.DataFrame, target: str | None) -> str:
    """The task that a target asks for."""
    if target is None:
        return "density"
    if target not in df.columns:
        raise InputError(f"there is no column `{target}`; the frame has {', '.join(df.columns[:20])}")
    column = df[target]
    is_label = not column.dtype.is_numeric() or column.drop_nulls().n_unique() == 2
    return "classification" if is_label else "regression"


def explained(df: pl.DataFrame, valuer: Any, std_error: bool) -> Any:
    """Values of rows by a fitted valuer, with their parts."""
    valuer._check()
    facts = valuer._fitted.facts()
    X = df.select(facts["features"])
    if valuer._TASK == "density":
        return valuer.explain(X, std_error=std_error)
    return valuer.explain(X, df[facts["target"]], std_error=std_error)
