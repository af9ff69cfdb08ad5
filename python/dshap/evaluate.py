"""How good values are, whoever made them.

Values go in as a dict of names and arrays, one value for each row: those of dshap's valuers and baselines, or anyone
else's. Chance is always tried beside them, under the name `'random'`.

=====================  =======================================================================
`point_addition`       what a model is worth as rows are added to a random half of them
`point_removal`        the same as rows are taken away from all
`noise_detection`      how well low values point at rows that are wrong
`compare`              how much values agree
`corrupt`              targets of which some are made wrong, to be detected
`figure`               curves as SVG
=====================  =======================================================================

What comes out has columns, and `to_pandas()`, `to_polars()` and `to_arrow()`. The curves are those of `dshap evaluate` on
the command line, to the last bit.

>>> import dshap
>>> X, y = dshap.datasets.gaussian_c(120, seed=1)
>>> wrong_y, is_wrong = dshap.evaluate.corrupt(y, 0.1, seed=2)
>>> found = dshap.ClassificationValuer().fit(X, wrong_y).explain_training()
>>> detected = dshap.evaluate.noise_detection({"value": found, "penalty": -found.penalty}, is_wrong)
>>> bool(detected.auc[1] > 0.7), detected.method.tolist()
(True, ['value', 'penalty', 'random'])
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dshap import _checks, _sets
from dshap._dshap import agreement, corrupted, detection, drawn, orders
from dshap._errors import FileError, InputError, InputTypeError
from dshap._frames import Columns
from dshap._inputs import column_of, numbers
from dshap._labels import labels_of
from dshap._values import Values

__all__ = [
    "Agreement",
    "Curves",
    "Detections",
    "compare",
    "corrupt",
    "figure",
    "noise_detection",
    "point_addition",
    "point_removal",
]

#: What chance is called.
CHANCE = "random"


class Curves(Columns):
    """Curves of a trial, one row for each of their points; the columns are those of `dshap evaluate`.

    Attributes
    ----------
    experiment : array of str
        `'addition'`, `'removal'` or `'detection'`.
    method : array of str
        Whose values; `'random'` is chance.
    order : array of str
        Whether rows of high or of low value come first: `'high'`, `'low'`; `'random'` is the mean of ten random
        orders. Of a detection `'value'`: low values first.
    n_rows : array of int
        How many rows were added, removed or looked at.
    utility : array
        What the set is worth then; NaN of a detection.
    relative : array
        The same as a share of what all rows are worth.
    found : array
        Of a detection: the share of wrong rows found; else NaN.
    measure : str or None
        What a set is worth: `'squared-error'`, `'accuracy'`, `'log-loss'` or `'integrated-squared-error'`.
    utility_of_all : float
        What all rows are worth; NaN of a detection.
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
        """The mean of each curve by method and order: of utility as a share of that of all rows, or of what is found."""
        found: dict[str, dict[str, float]] = {}
        for experiment, method, order, _, height in self._curves:
            unit = 1.0 if experiment == "detection" else self.utility_of_all
            found.setdefault(method, {})[order] = float(np.mean(height)) / unit
        return found

    def figure(self, path: str | os.PathLike[Any] | None = None, *, title: str = "") -> str:
        """The curves as SVG, also written to a file if one is named.

        Parameters
        ----------
        path : path, optional
            Such as `curves.svg`.
        title : str, optional
            What stands above the figure.

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
        Whose values; `'random'` is what chance is expected to do.
    auc : array
        The probability that a wrong row has a lower value than a right one: the area under the ROC curve.
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

    def _columns(self) -> dict[str, Any]:
        return {"method": self.method, "auc": self.auc, "f1": self.f1}


class Agreement(Columns):
    """How much each two columns of values agree.

    Attributes
    ----------
    one, other : array of str
        The two.
    spearman, kendall : array
        Spearman's correlation and Kendall's τ_b; NaN where one of them is all the same.
    top_overlap : array
        The share of the `top` best rows of one that are among those of the other.
    top : int
        How many rows count as the best.
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

    def _columns(self) -> dict[str, Any]:
        names = ("one", "other", "spearman", "kendall", "top_overlap")
        return {name: getattr(self, name) for name in names}


def point_addition(
    values: Mapping[str, ArrayLike] | ArrayLike,
    X: Any,
    y: Any = None,
    *,
    test: Any,
    task: str | None = None,
    utility: str | None = None,
    ridge: float | None = None,
    intercept: bool = True,
    refit_intercept: bool = False,
    dependent: str = "drop",
    kernel: str | None = None,
    bandwidth: str | float | None = None,
    scale: str | None = None,
    categorical: list[Any] | None = None,
    missing: str = "error",
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Curves:
    """What a model is worth as rows are added to a random half of them.

    Rows come from the highest value down, from the lowest up, and in random orders. Good values are high for the first
    and low for the second.

    Parameters
    ----------
    values : dict of arrays, or an array
        Names, and one value for each row of X; NaN where a row has none, which then comes last.
    X : array or frame of shape (n_rows, n_features)
        The rows.
    y : array of shape (n_rows,), optional
        Their targets; none of a density.
    test : pair (X_test, y_test)
        Rows that measure what a model is worth; of a density X_test alone. They must have no part in the values.
    task, utility, ridge, intercept, refit_intercept, dependent, kernel, bandwidth, scale, categorical, missing
        The model, as of `dshap.baselines.d_shapley`.
    repeats : int, default=1
        How many random halves; curves are means. One leaves much to chance.
    seed : int, default=0
        Seed of halves and random orders.
    n_jobs : int, optional
        Number of threads; all cores by default. The result does not depend on it.
    progress : bool, default=False
        Show bars (needs tqdm).

    Returns
    -------
    Curves

    Examples
    --------
    >>> import dshap
    >>> X, y = dshap.datasets.gaussian_r(100, 3, seed=1)
    >>> value = dshap.RegressionValuer().fit(X, y).value_training()
    >>> test = dshap.datasets.gaussian_r(1000, 3, seed=1)
    >>> curves = dshap.evaluate.point_addition({"gaussian": value}, X, y, test=test, repeats=5)
    >>> list(curves.means())
    ['gaussian', 'random']
    >>> curves.figure().startswith("<svg")
    True
    """
    options = _sets.options(
        task=task, utility=utility, ridge=ridge, intercept=intercept, refit_intercept=refit_intercept,
        dependent=dependent, kernel=kernel, bandwidth=bandwidth, scale=scale, missing=missing, seed=seed,
    )  # fmt: skip
    return _orders("addition", values, X, y, options, categorical, test, repeats, n_jobs, progress)


def point_removal(
    values: Mapping[str, ArrayLike] | ArrayLike,
    X: Any,
    y: Any = None,
    *,
    test: Any,
    task: str | None = None,
    utility: str | None = None,
    ridge: float | None = None,
    intercept: bool = True,
    refit_intercept: bool = False,
    dependent: str = "drop",
    kernel: str | None = None,
    bandwidth: str | float | None = None,
    scale: str | None = None,
    categorical: list[Any] | None = None,
    missing: str = "error",
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Curves:
    """What a model is worth as rows are taken away from all of them.

    Rows go from the highest value down, from the lowest up, and in random orders. Good values are low for the first and
    high for the second.

    Parameters
    ----------
    values, X, y, test, seed, n_jobs, progress
        As of `point_addition`.
    task, utility, ridge, intercept, refit_intercept, dependent, kernel, bandwidth, scale, categorical, missing
        The model, as of `dshap.baselines.d_shapley`.

    Returns
    -------
    Curves

    Examples
    --------
    >>> import dshap
    >>> X, y = dshap.datasets.gaussian_r(100, 3, seed=1)
    >>> test = dshap.datasets.gaussian_r(1000, 3, seed=1)
    >>> own = np.random.default_rng(5).random(100)          # values of any source
    >>> curves = dshap.evaluate.point_removal({"mine": own}, X, y, test=test)
    >>> bool(np.isclose(curves.relative[0], 1))             # nothing is removed yet
    True
    """
    options = _sets.options(
        task=task, utility=utility, ridge=ridge, intercept=intercept, refit_intercept=refit_intercept,
        dependent=dependent, kernel=kernel, bandwidth=bandwidth, scale=scale, missing=missing, seed=seed,
    )  # fmt: skip
    return _orders("removal", values, X, y, options, categorical, test, 1, n_jobs, progress)


def noise_detection(values: Mapping[str, ArrayLike] | ArrayLike, is_wrong: ArrayLike) -> Detections:
    """How well low values point at rows that are known to be wrong.

    Parameters
    ----------
    values : dict of arrays, or an array
        Names, and one value for each row; NaN where a row has none, which is left out. To look for large penalties,
        give them with a minus.
    is_wrong : array of bool
        Which rows are wrong, such as `corrupt` makes them.

    Returns
    -------
    Detections

    Examples
    --------
    >>> from dshap import evaluate
    >>> found = evaluate.noise_detection({"mine": [0.3, -1.0, 0.5, 0.1]}, [False, True, False, False])
    >>> found.auc.tolist(), found.f1.tolist()
    ([1.0, 0.5], [1.0, 0.25])
    """
    columns = _named(values)
    wrong = column_of(is_wrong, "is_wrong")
    if wrong.dtype.kind != "b":
        raise InputTypeError(f"`is_wrong` holds {wrong.dtype} cells; expected True and False")
    wrong = np.ascontiguousarray(wrong)
    _same_length(columns, len(wrong), "is_wrong")
    names, auc, f1, curves = [], [], [], []
    for name, value in columns.items():
        found = detection(value, wrong)
        if found is None:
            raise InputError(f"of the rows with a value by '{name}', some must be wrong and some right")
        names.append(name)
        auc.append(found[0])
        f1.append(found[1])
        curves.append(("detection", name, "value", np.arange(len(found[2])), found[2]))
    n = len(wrong)
    names.append(CHANCE)
    auc.append(0.5)
    f1.append(float(wrong.mean()))
    curves.append(("detection", CHANCE, "value", np.arange(n + 1), np.arange(n + 1) / n))
    return Detections(names, auc, f1, Curves(curves, None, np.nan))


def compare(values: Mapping[str, ArrayLike], *, top: int | None = None) -> Agreement:
    """How much values agree, each two of them.

    Parameters
    ----------
    values : dict of arrays
        Names, and one value for each row. A row that lacks one of two values (NaN) is left out of both.
    top : int, optional
        How many rows of highest value count as the best. By default a tenth of those that all have a value for.

    Returns
    -------
    Agreement

    Examples
    --------
    >>> from dshap import evaluate
    >>> found = evaluate.compare({"one": [3.0, 1.0, 2.0, 0.0], "other": [2.5, 1.5, 0.5, -1.0]}, top=2)
    >>> float(found.spearman[0]), round(float(found.kendall[0]), 4), float(found.top_overlap[0])
    (0.8, 0.6667, 0.5)
    """
    if not isinstance(values, Mapping):
        raise InputTypeError("`values` is a dict of names and arrays, such as {'gaussian': values}")
    columns = _named(values, CHANCE)
    first = next(iter(columns))
    _same_length(columns, len(columns[first]), first)
    n_valued = int(np.sum(~np.isnan(np.stack(list(columns.values()))).any(axis=0)))
    best = max(1, -(-n_valued // 10)) if top is None else _checks.whole("top", top, 1, _checks.LARGEST_SIZE)
    names = list(columns)
    pairs = [
        (one, other, *agreement(columns[one], columns[other], best))
        for i, one in enumerate(names)
        for other in names[i + 1 :]
    ]
    return Agreement(pairs, best)


def corrupt(
    y: Any, share: float = 0.1, *, task: str | None = None, seed: int = 0
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Targets of which a share is made wrong: a label becomes another, a number that of another row.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Numbers or labels.
    share : float, default=0.1
        Between 0 and 1. At least one target is changed, and at least one is not.
    task : 'regression' or 'classification', optional
        Whether they are numbers or labels. By default labels if they are text, true and false, or have two values.
    seed : int, default=0
        Seed of the choice.

    Returns
    -------
    y : array
        The targets, of the type they had.
    is_wrong : array of bool
        Which of them were changed.

    Examples
    --------
    >>> from dshap import evaluate
    >>> y, is_wrong = evaluate.corrupt(["cat", "dog", "cat", "dog"], 0.25, seed=1)
    >>> int(is_wrong.sum()), bool(((y != ["cat", "dog", "cat", "dog"]) == is_wrong).all())
    (1, True)
    """
    if isinstance(share, (bool, np.bool_)) or not isinstance(share, (int, float, np.number)) or not 0 < share < 1:
        raise InputError(f"`share` is {share!r}; expected a number between 0 and 1")
    seed = _checks.whole("seed", seed, 0, 2**64 - 1)
    if task not in (None, "regression", "classification"):
        raise InputError(f"`task` is {task!r}; expected 'regression', 'classification' or None")
    target = labels_of(y) if task != "regression" else None
    if target is not None and (task == "classification" or target.kind != "numbers" or len(np.unique(target.cells)) == 2):
        cells = target.cells
        if any(cell is None or cell != cell for cell in cells):
            raise InputError("y has missing labels, which cannot be made wrong")
        classes, codes = np.unique(cells, return_inverse=True)
        if len(classes) < 2:
            raise InputError("y has one label only, so that none can become another (one class)")
        changed, is_wrong = corrupted(codes.astype(np.float64), float(share), seed, len(classes))
        return classes[changed.astype(np.int64)].astype(target.dtype), is_wrong
    cells = numbers(y, "y")
    if not np.isfinite(cells).all():
        raise InputError("y has cells that are missing or not finite, which cannot be made wrong")
    changed, is_wrong = corrupted(np.ascontiguousarray(cells, dtype=np.float64), float(share), seed)
    return changed.astype(cells.dtype), is_wrong


def figure(
    *results: Curves | Detections, path: str | os.PathLike[Any] | None = None, title: str = ""
) -> str:
    """Curves as SVG: a panel for each experiment, a colour for each method.

    Parameters
    ----------
    results : Curves or Detections
        Of `point_addition`, `point_removal` and `noise_detection`. Utilities are shown as shares of that of all rows.
    path : path, optional
        Where it is written to as well.
    title : str, optional
        What stands above the figure.

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


def _orders(
    experiment: str,
    values: Any,
    X: Any,
    y: Any,
    options: Any,
    categorical: Any,
    test: Any,
    repeats: Any,
    n_jobs: Any,
    progress: Any,
) -> Curves:
    threads = _checks.threads(n_jobs)
    repeats = _checks.whole("repeats", repeats, 1, 10**6)
    rows = _sets.rows(X, y, options.task, categorical)
    columns = _named(values)
    _same_length(columns, len(rows.table), "X")
    tests = rows.beside(test, "test")
    if tests is None:
        raise InputError(
            "`test` is None: what a model is worth is measured on rows that have no part in the values, such as "
            "test=(X_test, y_test)"
        )
    with _sets.bar(progress) as bar:
        found = orders(
            rows.table, tests, options, rows.categorical, experiment, list(columns.items()), repeats, threads, bar
        )
    _sets.tell(found["warnings"])
    return Curves(found["curves"], found["utility"], found["utility_of_all"])


def _named(values: Any, *free: str) -> dict[str, NDArray[np.float64]]:
    """Values by name, each a column of doubles."""
    if not isinstance(values, Mapping):
        values = {"values": values}
    if not values:
        raise InputError("`values` is empty; expected names and arrays, such as {'gaussian': values}")
    columns = {}
    for name, column in values.items():
        if not isinstance(name, str):
            raise InputTypeError(f"`values` has the name {name!r}; expected text")
        if name == CHANCE and name not in free:
            raise InputError("`values` has the name 'random', which is that of chance; give another")
        cells = numbers(column.value if isinstance(column, Values) else column, f"values[{name!r}]")
        columns[name] = np.ascontiguousarray(cells, dtype=np.float64)
        if np.isnan(columns[name]).all():
            raise InputError(f"values[{name!r}] has no value for any row")
    return columns


def _same_length(columns: dict[str, NDArray[np.float64]], n_rows: int, whose: str) -> None:
    for name, column in columns.items():
        if len(column) != n_rows:
            raise InputError(f"values[{name!r}] has {len(column)} values, and {whose} has {n_rows} rows")
