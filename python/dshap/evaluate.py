"""How good values are, whoever made them.

Values go in as a dict of names and arrays, one value for each row: from dshap's valuers and baselines, or from any other
source. Random values are always tried as well, under the name `'random'`.

=====================  =======================================================================
`point_addition`       what a model is worth as rows are added to a random half of them
`point_removal`        what a model is worth as rows are removed from all of them
`noise_detection`      how well low values point at rows that are wrong
`compare`              how much values agree
`corrupt`              targets, some of which are made wrong, to be detected
`figure`               curves as SVG
=====================  =======================================================================

Results have columns, and `to_pandas()`, `to_polars()` and `to_arrow()`. For the same values and the same test rows, curves
have the same bits as those of `dshap evaluate` on the command line. The command line splits its test rows between methods
that value by them and curves. Here that is up to you: do not judge a baseline on the rows it had as `test`.

>>> import dshap
>>> X, y = dshap.datasets.gaussian_c(120, seed=1)
>>> wrong_y, is_wrong = dshap.evaluate.corrupt(y, 0.1, seed=2)
>>> found = dshap.ClassificationValuer().fit(X, wrong_y).explain_training()
>>> detected = dshap.evaluate.noise_detection({"value": found, "penalty": -found.penalty}, is_wrong)
>>> bool(detected.auc[1] > 0.7), detected.method.tolist()
(True, ['value', 'penalty', 'random'])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dshap import _checks, _sets
from dshap._dshap import agreement, corrupted, detection, orders
from dshap._errors import InputError, InputTypeError
from dshap._inputs import column_of, numbers
from dshap._kinds import is_series
from dshap._labels import labels_of
from dshap._trials import CHANCE, Agreement, Curves, Detections, figure
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
    rare_levels: int | None = None,
    missing: str = "error",
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Curves:
    """What a model is worth as rows are added to a random half of them.

    Rows are added from the highest value down, from the lowest up, and in random orders. Good values give a high curve
    for the first and a low one for the second. Regression without a ridge has no point with fewer than p + max(p, 10) rows.

    Parameters
    ----------
    values : dict of arrays, or an array
        Names, and one value for each row of X. Rows without a value (NaN) come last. Rows of equal value come in ten
        random orders, and the curve is the mean.
    X : array or frame of shape (n_rows, n_features)
        The rows.
    y : array of shape (n_rows,), optional
        Their targets; None for a density.
    test : pair (X_test, y_test)
        Rows that measure what a model is worth; X_test alone for a density. Values must not depend on them: a baseline
        looks better than it is on the rows it had as `test`, and dshap cannot notice that.
    task, utility, ridge, intercept, refit_intercept, dependent, kernel, bandwidth, scale, categorical, rare_levels, missing
        The model, as for `dshap.baselines.d_shapley`.
    repeats : int, default=1
        Number of random halves; curves are means. One half depends much on chance.
    seed : int, default=0
        Seed of the halves and the random orders.
    n_jobs : int, optional
        Number of threads; all cores by default. The result does not depend on it.
    progress : bool, default=False
        Show progress bars (needs tqdm).

    Returns
    -------
    Curves

    Examples
    --------
    >>> import dshap
    >>> X, y = dshap.datasets.gaussian_r(1100, 3, seed=1)
    >>> X, y, test = X[:100], y[:100], (X[100:], y[100:])
    >>> value = dshap.RegressionValuer().fit(X, y).value_training()
    >>> curves = dshap.evaluate.point_addition({"gaussian": value}, X, y, test=test, repeats=5)
    >>> list(curves.means())
    ['gaussian', 'random']
    >>> curves.figure().startswith("<svg")
    True
    """
    return _orders("addition", locals())


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
    rare_levels: int | None = None,
    missing: str = "error",
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Curves:
    """What a model is worth as rows are removed from all of them.

    Rows are removed from the highest value down, from the lowest up, and in random orders. Good values give a low curve
    for the first and a high one for the second. Regression without a ridge ends with p + max(p, 10) rows left.

    Parameters
    ----------
    values, X, y, test, seed, n_jobs, progress
        As for `point_addition`.
    task, utility, ridge, intercept, refit_intercept, dependent, kernel, bandwidth, scale, categorical, rare_levels, missing
        The model, as for `dshap.baselines.d_shapley`.

    Returns
    -------
    Curves

    Examples
    --------
    >>> import dshap
    >>> X, y = dshap.datasets.gaussian_r(1100, 3, seed=1)
    >>> X, y, test = X[:100], y[:100], (X[100:], y[100:])
    >>> own = np.random.default_rng(5).random(100)          # values of any source
    >>> curves = dshap.evaluate.point_removal({"mine": own}, X, y, test=test)
    >>> bool(np.isclose(curves.relative[0], 1))             # nothing is removed yet
    True
    """
    return _orders("removal", locals())


def noise_detection(values: Mapping[str, ArrayLike] | ArrayLike, is_wrong: ArrayLike) -> Detections:
    """How well low values point at rows that are known to be wrong.

    Parameters
    ----------
    values : dict of arrays, or an array
        Names, and one value for each row. Rows without a value (NaN) are left out. To look for large penalties, give
        them with a minus sign.
    is_wrong : array of bool
        Which rows are wrong, for example from `corrupt`.

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
            raise InputError(f"some of the rows with a value in '{name}' must be wrong and some right")
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
    """How much values agree, for each pair of columns.

    Parameters
    ----------
    values : dict of arrays
        Names, and one value for each row. A row that lacks one of the two values (NaN) is left out of the pair.
    top : int, optional
        Number of rows counted as best. By default a tenth of the rows that have all values. Rows tied for the last
        places share them.

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
) -> tuple[Any, NDArray[np.bool_]]:
    """Make a share of the targets wrong: a label becomes another, a number becomes that of another row.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Numbers or labels.
    share : float, default=0.1
        Between 0 and 1. At least one target is changed, and at least one is not.
    task : 'regression' or 'classification', optional
        Whether they are numbers or labels. By default labels if they are text, boolean or two-valued.
    seed : int, default=0
        Seed of the choice.

    Returns
    -------
    y : array
        The targets, with the same type. A pandas Series keeps its index, name and type.
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
            raise InputError("y has one label only, so none can become another (one class)")
        changed, is_wrong = corrupted(codes.astype(np.float64), float(share), seed, len(classes))
        return _like(y, classes[changed.astype(np.int64)].astype(target.dtype)), is_wrong
    cells = numbers(y, "y")
    if not np.isfinite(cells).all():
        raise InputError("y has cells that are missing or not finite, which cannot be made wrong")
    if len(cells) > 0 and (cells == cells[0]).all():
        raise InputError("y has one number only, so none can become another")
    changed, is_wrong = corrupted(np.ascontiguousarray(cells, dtype=np.float64), float(share), seed)
    return _like(y, changed.astype(cells.dtype)), is_wrong


def _like(y: Any, cells: NDArray[Any]) -> Any:
    """Targets as a pandas Series if they were one."""
    if not (is_series(y) and hasattr(y, "index") and hasattr(y, "iloc")):
        return cells
    return type(y)(cells, index=y.index, name=y.name).astype(y.dtype)


def _orders(experiment: str, given: dict[str, Any]) -> Curves:
    """Curves of an experiment; `given` holds the arguments of its function."""
    options = _sets.options(given)
    threads = _checks.threads(given["n_jobs"])
    repeats = _checks.whole("repeats", given.get("repeats", 1), 1, 10**6)
    rows = _sets.rows(given["X"], given["y"], options.task, given["categorical"])
    columns = _named(given["values"])
    _same_length(columns, len(rows.table), "X")
    tests = rows.beside(given["test"], "test")
    if tests is None:
        raise InputError(
            "`test` is None: rows that the values do not depend on measure what a model is worth, such as "
            "test=(X_test, y_test)"
        )
    with _sets.bar(given["progress"]) as bar:
        found = orders(
            rows.table, tests, options, rows.categorical, experiment, list(columns.items()), repeats, threads, bar
        )
    _sets.issue(found["warnings"])
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
            raise InputError("`values` has the name 'random', which stands for chance; give another")
        cells = numbers(column.value if isinstance(column, Values) else column, f"values[{name!r}]")
        columns[name] = np.ascontiguousarray(cells, dtype=np.float64)
        if np.isnan(columns[name]).all():
            raise InputError(f"values[{name!r}] has no value for any row")
    return columns


def _same_length(columns: dict[str, NDArray[np.float64]], n_rows: int, whose: str) -> None:
    for name, column in columns.items():
        if len(column) != n_rows:
            raise InputError(f"values[{name!r}] has {len(column)} values, but {whose} has {n_rows} rows")
