"""Results as frames of pandas, polars and pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dshap._errors import InputError
from dshap._kinds import is_a, is_frame, is_pandas, is_polars


#: Digits line up even on a page without styles.
TABLE = '<table style="text-align: right; font-variant-numeric: tabular-nums; border-spacing: 0.9em 0.1em">'


class Columns:
    """Named columns of equal length."""

    def _columns(self) -> dict[str, Any]:
        raise NotImplementedError

    def _index(self) -> Any:
        return None

    def to_pandas(self) -> Any:
        """As a pandas DataFrame, with the index of the rows that were valued."""
        import pandas as pd

        return pd.DataFrame(self._columns(), index=self._index())

    def to_polars(self) -> Any:
        """As a polars DataFrame."""
        import polars as pl

        def series(name: str, cells: NDArray[Any]) -> Any:
            if cells.dtype != object:
                return cells
            # Notes are text, even if all are missing; owners may be anything.
            return pl.Series(name, list(cells), dtype=pl.String if _are_text(cells) else pl.Object)

        return pl.DataFrame({name: series(name, cells) for name, cells in self._columns().items()}, nan_to_null=True)

    def to_arrow(self) -> Any:
        """As a pyarrow Table."""
        import pyarrow as pa

        def array(cells: NDArray[Any]) -> Any:
            # Arrow data distinguish missing cells from numbers; notes are text, even if all are missing.
            is_text = cells.dtype == object and _are_text(cells)
            try:
                return pa.array(cells, type=pa.string() if is_text else None, from_pandas=True)
            except pa.lib.ArrowException as error:
                raise InputError(f"owners of several kinds have no type in Arrow data ({error}); use to_pandas()") from None

        return pa.table({name: array(cells) for name, cells in self._columns().items()})


def frame_like(values: Columns, X: Any) -> Any:
    """A frame of the kind of X, of its own class if that can be made."""
    if is_polars(X):
        return values.to_polars()
    if is_pandas(X):
        return X._constructor(values.to_pandas())
    if not is_frame(X):
        return values.to_pandas()
    table = values.to_arrow()
    if is_a(X, "pyarrow", "RecordBatch"):
        return type(X).from_arrays([column.combine_chunks() for column in table.columns], table.column_names)
    return table


def _are_text(cells: NDArray[Any]) -> bool:
    return all(cell is None or isinstance(cell, str) for cell in cells)
