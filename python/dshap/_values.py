"""Values of rows, with their parts."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dshap import _checks
from dshap._dshap import ranking
from dshap._errors import DshapError, InputError
from dshap._explanation import Explanation
from dshap._frames import TABLE, Columns
from dshap._groups import Groups, grouped, owners_of
from dshap._inputs import refuse_other_labels
from dshap._kinds import is_series

__all__ = ["Values"]

#: Columns in the order of the command line's output.
ORDER = (
    "value",
    "stderr",
    "potential",
    "penalty",
    "correction",
    "dist_sq",
    "resid_sq",
    "predicted",
    "residual",
    "prob",
    "weight",
    "label_prob",
    "log_density",
    "relative",
)

#: Prefixes of columns about one class.
PER_CLASS = ("value_", "prob_")

#: What explains a row by its number.
Explain = Callable[[int], Explanation]

#: Number of rows shown by `repr` and in a notebook.
SHOWN = 8


class Values(Columns, np.lib.mixins.NDArrayOperatorsMixin):
    """Values of rows, in row order, with the parts that explain them.

    Returned by `explain` and `explain_training`. Acts as the array `values.value` where
    an array is expected: `np.mean(values)`, `2 * values` and `values > 0` work, and
    return plain arrays.

    Attributes
    ----------
    value : array
        Positive where a row is expected to help; for densities the sign has no meaning.
        NaN where a row has no value.
    stderr : array or None
        Standard errors, if asked for.
    potential, penalty : array or None
        What the position of a row can teach, and what its error costs:
        value = potential − penalty. None for methods that do not have them.
    correction : array or None
        For `'second-order'`: the gain or loss from the pull of a row on a refitted
        model; value = potential − penalty + correction.
    dist_sq : array or None
        Squared distance from the reference mean.
    resid_sq : array or None
        For regression: squared residual.
    predicted, residual : array or None
        For regression: the target that the model predicts, without the row if it was
        fitted, and the target minus that.
    label_prob : array or None
        For classification: the probability of the label that the row has, without the
        row if it was fitted. Low where the label is doubtful.
    prob, weight : array or None
        For classification with two labels: the fitted probability of the positive
        label, and the weight prob · (1 − prob) of the row in the fit.
    log_density, relative : array or None
        For densities: the logarithm of the density estimate at the row, in scaled
        columns, and the value without the constant that all rows share.
    per_class : dict of arrays
        For classification with more than two labels: `value_LABEL`, what telling that
        label from the others contributes to the value (not with one model of all
        labels), and `prob_LABEL`, its probability. Otherwise empty.
        `pandas.DataFrame(values.per_class)` makes a frame of it.
    at_m : dict of arrays
        With several `m`: the values for each of them. Otherwise empty.
    stderr_at_m : dict of arrays
        Their standard errors, if asked for.
    note : array of object
        Why a row has no value, else None.
    row : array of int
        Numbers of the rows.

    Examples
    --------
    >>> from dshap import RegressionValuer
    >>> from dshap.datasets import gaussian_r
    >>> X, y = gaussian_r(100, 3, seed=5)
    >>> values = RegressionValuer().fit(X, y).explain_training()
    >>> len(values), values.top(3).value.tolist() == sorted(values.value)[:-4:-1]
    (100, True)
    >>> bool(np.allclose(values.value, values.potential - values.penalty))
    True
    """

    __module__ = "dshap"

    value: NDArray[np.float64]
    stderr: NDArray[np.float64] | None
    potential: NDArray[np.float64] | None
    penalty: NDArray[np.float64] | None
    correction: NDArray[np.float64] | None
    dist_sq: NDArray[np.float64] | None
    resid_sq: NDArray[np.float64] | None
    predicted: NDArray[np.float64] | None
    residual: NDArray[np.float64] | None
    label_prob: NDArray[np.float64] | None
    prob: NDArray[np.float64] | None
    weight: NDArray[np.float64] | None
    log_density: NDArray[np.float64] | None
    relative: NDArray[np.float64] | None
    per_class: dict[str, NDArray[np.float64]]
    at_m: dict[int, NDArray[np.float64]]
    stderr_at_m: dict[int, NDArray[np.float64]]
    note: NDArray[np.object_]
    row: NDArray[np.int64]

    def __init__(
        self, columns: dict[str, Any], note: Any, row: Any, index: Any = None, explain: Explain | None = None
    ) -> None:
        for name in ORDER:
            setattr(self, name, columns.get(name))
        self.per_class = {name: column for name, column in columns.items() if name.startswith(PER_CLASS)}
        self.note, self.row, self._labels, self._explain = note, row, index, explain
        self.at_m, self.stderr_at_m = {}, {}
        #: Number of rows that were valued together with these.
        self._n_rows = len(row)
        # Errors of sums by group, from the fit that all rows share.
        self._sum_errors: Callable[[list[int], int], NDArray[np.float64] | None] | None = None

    def _add_sizes(self, each: dict[int, Values]) -> None:
        """Values of the same rows for several m."""
        self.at_m = {m: values.value for m, values in each.items()}
        self.stderr_at_m = {m: values.stderr for m, values in each.items() if values.stderr is not None}

    def __getstate__(self) -> dict[str, Any]:
        # Rows are not pickled.
        return {**self.__dict__, "_sum_errors": None, "_explain": None}

    @classmethod
    def _of(cls, found: dict[str, Any], index: Any = None, explain: Explain | None = None) -> Values:
        n = len(found["value"])
        note = np.full(n, None, dtype=object)
        for row, text in found.pop("notes"):
            note[row] = text
        values = cls(found, note, np.arange(n), index, explain)
        values._n_rows = n
        return values

    def explain_row(self, row: int) -> Explanation:
        """Why a row is worth what it is worth.

        Parameters
        ----------
        row : int
            The number of the row among those that were valued, from 0, as in `row`.

        Returns
        -------
        Explanation
            Prints as sentences; `facts` is a dict.

        Raises
        ------
        DshapError
            If the valuer and the rows are no longer there, because the values were pickled.

        Examples
        --------
        >>> from dshap import RegressionValuer
        >>> from dshap.datasets import gaussian_r
        >>> X, y = gaussian_r(100, 3, seed=5)
        >>> values = RegressionValuer().fit(X, y).explain_training()
        >>> why = values.explain_row(values.bottom(1).row[0])
        >>> str(why).startswith("Row") and why.facts["rank"]["n_lower"] == 0
        True
        """
        if self._explain is None:
            raise DshapError("these values no longer know their rows; call `explain` or `explain_training` again")
        return self._explain(_checks.whole("row", row, 0, _checks.LARGEST_SIZE))

    def ranking(self) -> NDArray[np.int64]:
        """Positions from the highest value to the lowest; rows without a value last.

        Densities with equal values are ranked by `relative`.
        """
        return ranking(self.value, self.relative)

    def top(self, k: int) -> Values:
        """The k rows of highest value, from the highest down."""
        return self[self.ranking()[: _checks.whole("k", k, 0, _checks.LARGEST_SIZE)]]

    def bottom(self, k: int, by: str = "value") -> Values:
        """The k rows of lowest value, from the lowest up.

        Parameters
        ----------
        k : int
            Number of rows.
        by : 'value' or 'penalty', default='value'
            `'penalty'`: the rows of largest penalty, which finds wrong labels and targets best.

        Returns
        -------
        Values
        """
        if by == "penalty":
            if self.penalty is None:
                raise InputError("these values have no penalty; `by` must be 'value'")
            order = ranking(self.penalty, None)
            return self[order[: _checks.whole("k", k, 0, _checks.LARGEST_SIZE)]]
        if by != "value":
            raise InputError(f"`by` is {by!r}; expected 'value' or 'penalty'")
        # Rows without a value are neither low nor high, so they come last here too.
        order = ranking(-self.value, None if self.relative is None else -self.relative)
        return self[order[: _checks.whole("k", k, 0, _checks.LARGEST_SIZE)]]

    def by(self, owner: ArrayLike) -> Groups:
        """Values added up by owner.

        Parameters
        ----------
        owner : array_like of shape (n_rows,)
            The owner of each row: text, numbers or any objects that can be keys of a
            dict. Equal owners are one, so 1 and "1" are two. A row without an owner
            (None, NaN) is an error.

        Returns
        -------
        Groups
            From the highest total to the lowest. If the values have standard errors, so do the totals: all rows share
            one fit, so the errors of rows do not cancel as independent ones would. For regression by `'gaussian'` and
            `'calibrated'`; other methods, weights and rows with missing cells have none.

        Examples
        --------
        >>> from dshap import RegressionValuer
        >>> from dshap.datasets import gaussian_r
        >>> X, y = gaussian_r(100, 3, seed=5)
        >>> values = RegressionValuer().fit(X, y).explain_training()
        >>> groups = values.by(["ann", "bob"] * 50)
        >>> groups.n_rows.tolist(), bool(np.isclose(groups.total.sum(), values.value.sum()))
        ([50, 50], True)
        """
        if is_series(owner) and self._labels is not None and hasattr(owner, "index"):
            refuse_other_labels(self._labels, owner.index, "owner", "X")
        names, group = grouped(owners_of(owner, len(self)))
        valued = ~np.isnan(self.value)
        n_rows = np.bincount(group[valued], minlength=len(names))
        total: NDArray[Any] = np.bincount(group[valued], weights=self.value[valued], minlength=len(names))
        n_negative = np.bincount(group[valued], weights=self.value[valued] < 0, minlength=len(names))
        order = ranking(total)
        errors = self._errors_of(group, valued, len(names))
        stderr = None if errors is None else errors[order]
        return Groups(names[order], total[order], n_rows[order], n_negative[order].astype(np.int64), stderr)

    def _errors_of(
        self, group: NDArray[np.intp], valued: NDArray[np.bool_], n_groups: int
    ) -> NDArray[np.float64] | None:
        """Standard errors of totals, if the method knows them."""
        if self._sum_errors is None:
            return None
        # These may be some of the rows that were valued, and not in their order.
        of_row = np.full(self._n_rows, -1, dtype=np.int64)
        of_row[self.row[valued]] = group[valued]
        if len(np.unique(self.row)) < len(self.row):
            return None
        return self._sum_errors(of_row.tolist(), n_groups)

    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, title: str | None = None, by: ArrayLike | None = None
    ) -> str:
        """One page of HTML with charts and tables, as from `dshap.report`; also written to `path` if given."""
        from dshap._report import report

        return report(self, path, title=title, by=by)

    def plot(self, ax: Any = None, *, bins: int = 50) -> Any:
        """A histogram of the values, with negative values in another colour where the sign has a meaning (needs matplotlib).

        Parameters
        ----------
        ax : matplotlib axes, optional
            The axes to draw on.
        bins : int
            Number of bars, at least 1.

        Returns
        -------
        matplotlib axes
        """
        bins = _checks.whole("bins", bins, 1, 10**6)
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
        counts, edges = self._histogram(bins)
        colours = [self._colour(right) for right in edges[1:]]
        ax.bar(edges[:-1], counts, width=np.diff(edges), align="edge", color=colours)
        if self._has_sign():
            ax.axvline(0, color="black", linewidth=0.8)
        ax.set_xlabel("value")
        ax.set_ylabel("rows")
        ax.set_title(self._summary(), fontsize="medium", loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[np.float64]:
        return iter(self.value)

    def __getitem__(self, rows: Any) -> Values:
        rows = np.arange(len(self))[rows]
        rows = np.atleast_1d(rows)
        columns = {name: column[rows] for name, column in {**self._parts(), **self.per_class}.items()}
        index = None if self._labels is None else self._labels[rows]
        some = Values(columns, self.note[rows], self.row[rows], index, self._explain)
        some.at_m = {m: column[rows] for m, column in self.at_m.items()}
        some.stderr_at_m = {m: column[rows] for m, column in self.stderr_at_m.items()}
        some._sum_errors, some._n_rows = self._sum_errors, self._n_rows
        return some

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.value, dtype=dtype, copy=True if copy is None else copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        # What is computed from values is no longer the value of a row.
        arrays = [given.value if isinstance(given, Values) else given for given in inputs]
        return getattr(ufunc, method)(*arrays, **keywords)

    def __repr__(self) -> str:
        lines = [f"<Values: {self._summary()}>"]
        if len(self):
            names = list(self._parts())
            shown = self[: SHOWN if len(self) > SHOWN + 1 else len(self)]
            labels = [str(row) for row in (shown.row if shown._labels is None else shown._labels)]
            width = max(8, *map(len, labels))
            head = "row" if shown._labels is None else "index"
            lines.append(f"{head:>{width}}  " + "".join(f"{name:>12}" for name in names))
            for i, label in enumerate(labels):
                cells = "".join(f"{getattr(shown, name)[i]:>12.5g}" for name in names)
                lines.append(f"{label:>{width}}  {cells}" + (f"  {shown.note[i]}" if shown.note[i] else ""))
            if len(shown) < len(self):
                lines.append(f"     ... {len(self) - len(shown)} more rows")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names = list(self._parts())
        ends = (
            [self]
            if len(self) <= 2 * SHOWN
            else [self.top(SHOWN // 2), self.bottom(SHOWN // 2)[:: -1]]
        )
        labels = "row" if self._labels is None else "index"
        head = "".join(f"<th>{name}</th>" for name in [labels, *names])
        body = []
        for part, end in enumerate(ends):
            if part:
                hidden = len(self) - 2 * (SHOWN // 2)
                body.append(f'<tr><td colspan="{len(names) + 1}" style="text-align: left">… {hidden} rows between, by value …</td></tr>')
            for i in range(len(end)):
                label = end.row[i] if end._labels is None else end._labels[i]
                numbers = [getattr(end, name)[i] for name in names]
                cells = "".join("<td>–</td>" if np.isnan(number) else f"<td>{number:.5g}</td>" for number in numbers)
                note = f"<td>{html.escape(end.note[i])}</td>" if end.note[i] else ""
                body.append(f"<tr><th>{html.escape(str(label))}</th>{cells}{note}</tr>")
        return (
            f"<div><p>{html.escape(self._summary())}</p>{self._svg()}"
            f"{TABLE}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        )

    def _svg(self, width: int = 360, height: int = 72, bins: int = 45) -> str:
        """A small histogram."""
        counts, edges = self._histogram(bins)
        if not counts.sum():
            return ""
        low, high = edges[0], edges[-1]
        bar, tallest = width / len(counts), counts.max()
        bars = []
        for i, count in enumerate(counts):
            tall = 0 if count == 0 else max(1.0, (height - 16) * count / tallest)
            colour = self._colour(edges[i + 1])
            bars.append(
                f'<rect x="{i * bar:.1f}" y="{height - 14 - tall:.1f}" width="{max(bar - 1, 1):.1f}" '
                f'height="{tall:.1f}" fill="{colour}"/>'
            )
        if low < 0 < high and self._has_sign():
            zero = width * -low / (high - low)
            bars.append(f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{height - 14}" stroke="currentColor"/>')
        label = 'font-size="10" fill="currentColor"'
        bars.append(f'<text x="0" y="{height - 2}" {label}>{low:.3g}</text>')
        bars.append(f'<text x="{width}" y="{height - 2}" text-anchor="end" {label}>{high:.3g}</text>')
        return f'<svg width="{width}" height="{height}" role="img" aria-label="histogram of values">{"".join(bars)}</svg>'

    def _histogram(self, bins: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Counts and edges; 0 is an edge if values lie on both sides of it."""
        known = self.value[np.isfinite(self.value)]
        if not len(known):
            return np.zeros(0), np.zeros(1)
        low, high = float(known.min()), float(known.max())
        if low < 0 < high:
            step = (high - low) / bins
            below, above = int(np.ceil(-low / step)), int(np.ceil(high / step))
            edges = step * np.arange(-below, above + 1)
        else:
            edges = np.linspace(low, high if high > low else low + 1, bins + 1)
        return np.histogram(known, edges)

    def _has_sign(self) -> bool:
        """Whether rows below 0 are expected to harm; values of densities share a constant without meaning."""
        return self.log_density is None

    def _colour(self, right: float) -> str:
        """The colour of the bar that ends at `right`."""
        return HARM if right <= 0 and self._has_sign() else HELP

    def _summary(self) -> str:
        known = self.value[~np.isnan(self.value)]
        text = f"{len(self)} row" + ("" if len(self) == 1 else "s")
        if len(known):
            text += f", values from {known.min():.4g} to {known.max():.4g}"
            if self._has_sign():
                text += f", {100 * np.mean(known < 0):.1f} % below 0"
        if len(known) < len(self):
            text += f"; {len(self) - len(known)} without a value"
        return text

    def _parts(self) -> dict[str, Any]:
        return {name: column for name in ORDER if (column := getattr(self, name)) is not None}

    def _columns(self) -> dict[str, Any]:
        sizes = {}
        for m, column in self.at_m.items():
            sizes[f"value_m{m}"] = column
            if m in self.stderr_at_m:
                sizes[f"stderr_m{m}"] = self.stderr_at_m[m]
        parts: dict[str, Any] = self._parts()
        first: dict[str, Any] = {name: parts.pop(name) for name in ("value", "stderr") if name in parts}
        return {"row": self.row, **first, **sizes, **parts, "note": self.note}

    def _index(self) -> Any:
        return self._labels


HELP, HARM = "#3b7dd8", "#d1495b"
