"""Results of trials of values: curves, detections, agreement, and figures of them."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dshap import _checks
from dshap._dshap import drawn
from dshap._errors import FileError, InputTypeError
from dshap._frames import TABLE, Columns

#: The name of random values.
CHANCE = "random"


class Curves(Columns):
    """Curves of a trial, one row for each point, with the columns of `dshap evaluate`.

    Attributes
    ----------
    experiment : array of str
        `'addition'`, `'removal'` or `'detection'`.
    method : array of str
        The name of the values; `'random'` is chance.
    order : array of str
        Whether rows of high or low value come first: `'high'`, `'low'`; `'random'` is the mean of ten random orders,
        or fewer for large logistic models.
        For a detection `'value'`: low values first.
    n_rows : array of int
        Number of rows added, removed or inspected.
    utility : array
        What the set is worth then; NaN for a detection.
    relative : array
        The same as a share of what all rows are worth.
    found : array
        For a detection: the share of wrong rows found; else NaN.
    measure : str or None
        What a set is worth: `'squared-error'`, `'accuracy'`, `'log-loss'` or `'integrated-squared-error'`.
    utility_of_all : float
        What all rows are worth; NaN for a detection.
    """

    __module__ = "dshap.evaluate"

    def __init__(self, curves: list[Any], measure: str | None, utility_of_all: float) -> None:
        self._curves = curves
        self.measure, self.utility_of_all = measure, utility_of_all

        def words(which: int) -> NDArray[np.object_]:
            column = np.empty(sum(len(curve[3]) for curve in curves), dtype=object)
            column[:] = [curve[which] for curve in curves for _ in curve[3]]
            return column

        self.experiment, self.method, self.order = words(0), words(1), words(2)
        self.n_rows: NDArray[np.int64] = np.concatenate([curve[3] for curve in curves])
        height: NDArray[np.float64] = np.concatenate([curve[4] for curve in curves])
        is_found = self.experiment == "detection"
        self.utility: NDArray[np.float64] = np.where(is_found, np.nan, height)
        self.relative: NDArray[np.float64] = self.utility / utility_of_all
        self.found: NDArray[np.float64] = np.where(is_found, height, np.nan)

    def means(self) -> dict[str, dict[str, float]]:
        """The mean of each curve by method and order: utility as a share of that of all rows, or the share found."""
        found: dict[str, dict[str, float]] = {}
        for experiment, method, order, _, height in self._curves:
            unit = 1.0 if experiment == "detection" else self.utility_of_all
            found.setdefault(method, {})[order] = float(np.mean(height)) / unit
        return found

    def figure(self, path: str | os.PathLike[Any] | None = None, *, title: str = "") -> str:
        """The curves as SVG, also written to a file if `path` is given.

        Parameters
        ----------
        path : path, optional
            Such as `curves.svg`.
        title : str, optional
            The title above the figure.

        Returns
        -------
        str
        """
        return figure(self, path=path, title=title)

    def __len__(self) -> int:
        return len(self.n_rows)

    def __repr__(self) -> str:
        lines = [f"<Curves: {', '.join(sorted(set(self.experiment)))}; means>"]
        for method, means in self.means().items():
            lines.append(f"{method:<20}" + "".join(f"  {order} {mean:.4f}" for order, mean in means.items()))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.figure()

    def _columns(self) -> dict[str, Any]:
        names = ("experiment", "method", "order", "n_rows", "utility", "relative", "found")
        return {name: getattr(self, name) for name in names}


class Detections(Columns):
    """How well low values point at rows that are wrong.

    Attributes
    ----------
    method : array of str
        The name of the values; `'random'` is the expected result of chance.
    auc : array
        The probability that a wrong row has a lower value than a right one, which is the area under the ROC curve.
    f1 : array
        F1 of flagging as many of the lowest rows as there are wrong ones.
    curves : Curves
        The share of wrong rows found among the lowest 0, 1, 2, … rows.
    """

    __module__ = "dshap.evaluate"

    def __init__(self, method: list[str], auc: list[float], f1: list[float], curves: Curves) -> None:
        self.method: NDArray[np.object_] = np.array(method, dtype=object)
        self.auc: NDArray[np.float64] = np.array(auc)
        self.f1: NDArray[np.float64] = np.array(f1)
        self.curves = curves

    def __len__(self) -> int:
        return len(self.method)

    def __repr__(self) -> str:
        rows = zip(self.method, self.auc, self.f1)
        return "\n".join(["<Detections>", *(f"{name:<20}  AUC {auc:.4f}  F1 {f1:.4f}" for name, auc, f1 in rows)])

    def _repr_html_(self) -> str:
        rows = ((name, (auc, f1)) for name, auc, f1 in zip(self.method, self.auc, self.f1))
        return f"<div>{self.curves.figure()}{_html_table(['method', 'AUC', 'F1'], rows)}</div>"

    def _columns(self) -> dict[str, Any]:
        return {"method": self.method, "auc": self.auc, "f1": self.f1}


class Agreement(Columns):
    """How much each pair of columns of values agrees.

    Attributes
    ----------
    one, other : array of str
        The two columns.
    spearman, kendall : array
        Spearman's correlation and Kendall's τ_b; NaN where a column is constant.
    top_overlap : array
        The share of the `top` best rows of one column that are among those of the other.
    top : int
        Number of rows counted as best.
    """

    __module__ = "dshap.evaluate"

    def __init__(self, pairs: list[Any], top: int) -> None:
        one, other, spearman, kendall, overlap = zip(*pairs) if pairs else ((), (), (), (), ())
        self.one: NDArray[np.object_] = np.array(one, dtype=object)
        self.other: NDArray[np.object_] = np.array(other, dtype=object)
        self.spearman, self.kendall, self.top_overlap = (
            np.array([np.nan if number is None else number for number in column], dtype=np.float64)
            for column in (spearman, kendall, overlap)
        )
        self.top = top

    def __len__(self) -> int:
        return len(self.one)

    def __repr__(self) -> str:
        rows = zip(self.one, self.other, self.spearman, self.kendall, self.top_overlap)
        lines = [f"{a:<16} {b:<16} {s:>9.4f} {k:>9.4f} {t:>9.4f}" for a, b, s, k, t in rows]
        head = f"{'':<16} {'':<16} {'Spearman':>9} {'Kendall':>9} {f'best {self.top}':>9}"
        return "\n".join(["<Agreement>", head, *lines])

    def _repr_html_(self) -> str:
        pairs = (f"{one} and {other}" for one, other in zip(self.one, self.other))
        rows = zip(pairs, zip(self.spearman, self.kendall, self.top_overlap))
        return _html_table(["values", "Spearman", "Kendall", f"share of the best {self.top}"], rows)

    def _columns(self) -> dict[str, Any]:
        names = ("one", "other", "spearman", "kendall", "top_overlap")
        return {name: getattr(self, name) for name in names}


def _html_table(head: list[str], rows: Iterable[tuple[str, Iterable[float]]]) -> str:
    """A table of names and numbers."""
    body = []
    for name, numbers in rows:
        cells = "".join("<td>–</td>" if np.isnan(number) else f"<td>{number:.4f}</td>" for number in numbers)
        body.append(f"<tr><th>{html.escape(name)}</th>{cells}</tr>")
    titles = "".join(f"<th>{html.escape(title)}</th>" for title in head)
    return f"{TABLE}<thead><tr>{titles}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def figure(
    *results: Curves | Detections, path: str | os.PathLike[Any] | None = None, title: str = ""
) -> str:
    """Curves as SVG: a panel for each experiment, a colour for each method.

    Parameters
    ----------
    results : Curves or Detections
        From `point_addition`, `point_removal` and `noise_detection`. Utilities are shown as shares of that of all rows.
    path : path, optional
        A file to write it to as well.
    title : str, optional
        The title above the figure.

    Returns
    -------
    str

    Examples
    --------
    >>> from dshap import evaluate
    >>> found = evaluate.noise_detection({"mine": [0.3, -1.0, 0.5, 0.1]}, [False, True, False, False])
    >>> "Detection of wrong targets" in evaluate.figure(found)
    True
    """
    curves = []
    for result in results:
        if not isinstance(result, (Curves, Detections)):
            raise InputTypeError(f"a {type(result).__name__} has no curves")
        one = result.curves if isinstance(result, Detections) else result
        for experiment, method, order, n_rows, height in one._curves:
            unit = 1.0 if experiment == "detection" else one.utility_of_all
            curves.append((experiment, method, order, n_rows.astype(np.int64), height / unit))
    svg = drawn(str(title), curves, 1.0)
    if path is not None:
        try:
            with open(_checks.path(path), "w", encoding="utf-8") as file:
                file.write(svg)
        except OSError as error:
            what = f"cannot write {error.filename!r}: {error.strerror}"
            raise FileError(error.errno, what, error.filename) from None
    return svg
