"""Values before there were closed forms: models are fitted to sets of rows, again and again.

Use baselines to check closed forms, to compare with them, and to value rows for a utility that has no closed form. Test
rows, which are in no set, measure what a set is worth: give `test=(X_test, y_test)`, or one row in five is drawn with
`seed`. Rows that are drawn have no value and the note `'test row'`.

==================  ==========================================================================
`d_shapley`         expected gain on joining a random set of other rows, as in the closed forms
`tmc_shapley`       Shapley values of a finite dataset, by random orders
`exact_shapley`     the same by all sets, for up to 20 rows
`knn_shapley`       the same for nearest neighbours, in closed form
`leave_one_out`     what all rows lose without each row
`data_oob`          how well the models of a fitted forest that did not see a row predict its target
`random`            random numbers, which any method must beat
==================  ==========================================================================

What a set is worth may also be a function of your own: `d_shapley`, `tmc_shapley`, `exact_shapley` and `leave_one_out` take `utility=function`.

All of them return `dshap.Values`. Methods that draw have the Monte Carlo standard error of each value in `stderr`. The
same seed gives the same bits on any number of threads, and the same bits as `dshap value --method ...` on the command
line.

>>> import dshap
>>> X, y = dshap.datasets.gaussian_r(60, 2, seed=1)
>>> test = dshap.datasets.gaussian_r(500, 2, seed=1)
>>> values = dshap.baselines.leave_one_out(X, y, test=test)
>>> len(values), values.stderr is None
(60, True)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dshap import _checks, _inputs, _sets
from dshap._classification import ClassificationValuer
from dshap._dshap import baseline, baseline_of_sets, chance, task_of
from dshap._errors import InputError
from dshap._kinds import is_frame, is_pandas, shape_of
from dshap._oob import data_oob
from dshap._parameters import defaults
from dshap._regression import RegressionValuer
from dshap._values import Values

__all__ = ["d_shapley", "data_oob", "exact_shapley", "knn_shapley", "leave_one_out", "random", "tmc_shapley"]


def d_shapley(
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    reference: Any = None,
    task: str | None = None,
    utility: str | Callable[[NDArray[np.int64]], float] | None = None,
    m: int | None = None,
    q: int | None = None,
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
    unseen: str = "error",
    samples: int | None = None,
    stop: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Values:
    """D-Shapley (Ghorbani, Kim and Zou 2020): the expected gain on joining a random set of other rows.

    It estimates what the closed forms compute, for models that are refitted on each set, so it checks them. That takes
    thousands of reference rows and test rows: with few rows, values measure how each row fits the noise of the others.

    Parameters
    ----------
    X : array or frame of shape (n_rows, n_features)
        NumPy, pandas, polars, pyarrow, or anything with the Arrow PyCapsule interface.
    y : array of shape (n_rows,), optional
        Targets: numbers for regression, labels for classification, None for a density.
    test : pair (X_test, y_test), optional
        Rows that measure what sets are worth; X_test alone for a density. By default one row in five of the reference.
    reference : pair (X_reference, y_reference), optional
        Rows that sets are drawn from. By default X itself: each row is valued against the others.
    task : 'regression', 'classification' or 'density', optional
        By default guessed: a density without y, classification if y is text, boolean or two-valued, else regression.
    utility : 'accuracy', 'log-loss' or a function, optional
        What classifiers are judged by. By default accuracy. A function says itself what a set of rows is worth: it gets
        the numbers of its rows, an ascending array, and returns a number. It is also asked about no rows, and sets are
        worth what they bring beyond that. Options of models and test rows are then its own business, and refused here.
    m, q : int, optional
        Largest set size, the row included, and smallest set whose utility counts. Defaults as for the valuers.
    ridge : float, optional
        Ridge penalty of every fit. By default 0, and 1 for classification.
    intercept, refit_intercept, dependent
        As for `RegressionValuer`.
    kernel, bandwidth, scale : optional
        As for `DensityValuer`, for densities only.
    categorical, rare_levels, missing, unseen
        As for the valuers.
    samples : int, optional
        Maximum number of iterations. By default 10 000.
    stop : float, optional
        Tolerance of the means: iterations stop when the mean relative change over a hundred iterations is smaller. By
        default 0.05; 0 runs all iterations.
    seed : int, default=0
        Seed of the draws, and of the choice of test rows.
    n_jobs : int, optional
        Number of threads; all cores by default. The result does not depend on it. A function as `utility` is called by one
        thread unless this says otherwise.
    progress : bool, default=False
        Show progress bars (needs tqdm).

    Returns
    -------
    Values
        With Monte Carlo standard errors.

    Examples
    --------
    >>> from dshap import RegressionValuer, baselines
    >>> from dshap.datasets import gaussian_r
    >>> X, y = gaussian_r(40_100, 3, seed=3)
    >>> points, reference, test = (X[:100], y[:100]), (X[100:20_100], y[100:20_100]), (X[20_100:], y[20_100:])
    >>> drawn = baselines.d_shapley(*points, reference=reference, test=test, m=60, samples=1500, stop=0.0)
    >>> exact = RegressionValuer(m=60).fit(*reference).value(*points)
    >>> bool(np.corrcoef(drawn, exact)[0, 1] > 0.9)
    True
    """
    return _valued("d-shapley", locals())


def tmc_shapley(
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    task: str | None = None,
    utility: str | Callable[[NDArray[np.int64]], float] | None = None,
    q: int | None = None,
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
    samples: int | None = None,
    stop: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Values:
    """TMC-Shapley (Ghorbani and Zou 2019): Shapley values of a finite dataset, by random orders that end early.

    The values add up to what all rows are worth, except for what is cut off when an order ends early.

    Parameters
    ----------
    X, y, test, task, utility, q, ridge, samples, stop, seed, n_jobs, progress
        As for `d_shapley`; an iteration is one order.
    intercept, refit_intercept, dependent, kernel, bandwidth, scale, categorical, rare_levels, missing
        As for `d_shapley`.

    Returns
    -------
    Values
        With Monte Carlo standard errors.

    Examples
    --------
    >>> from dshap import baselines
    >>> from dshap.datasets import gaussian_c
    >>> X, y = gaussian_c(40, seed=3)
    >>> values = baselines.tmc_shapley(X, y, test=gaussian_c(300, seed=4), samples=200)
    >>> len(values), bool((values.stderr > 0).all())
    (40, True)

    What a set is worth may be any function of the numbers of its rows:

    >>> def together(rows):
    ...     return float(0 in rows and 1 in rows)
    >>> values = baselines.tmc_shapley(np.zeros((4, 1)), utility=together, samples=2000, stop=0.0)
    >>> bool(abs(values.value[0] - 0.5) < 5 * values.stderr[0]), values.value[2:].tolist()
    (True, [0.0, 0.0])
    """
    return _valued("tmc-shapley", locals())


def exact_shapley(
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    task: str | None = None,
    utility: str | Callable[[NDArray[np.int64]], float] | None = None,
    q: int | None = None,
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
) -> Values:
    """Shapley values of a finite dataset by all sets: for up to 20 rows, and for densities of any size in closed form.

    Parameters
    ----------
    X, y, test, task, utility, q, ridge, seed, n_jobs, progress
        As for `d_shapley`.
    intercept, refit_intercept, dependent, kernel, bandwidth, scale, categorical, rare_levels, missing
        As for `d_shapley`.

    Returns
    -------
    Values

    Examples
    --------
    >>> from dshap import baselines
    >>> from dshap.datasets import gaussian_r
    >>> X, y = gaussian_r(12, 2, seed=3)
    >>> len(baselines.exact_shapley(X, y, test=gaussian_r(300, 2, seed=4)))
    12
    """
    return _valued("exact-shapley", locals())


def leave_one_out(
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    task: str | None = None,
    utility: str | Callable[[NDArray[np.int64]], float] | None = None,
    q: int | None = None,
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
) -> Values:
    """What all rows lose without each row: fast, but weak, since similar rows replace each other.

    Parameters
    ----------
    X, y, test, task, utility, q, ridge, seed, n_jobs, progress
        As for `d_shapley`.
    intercept, refit_intercept, dependent, kernel, bandwidth, scale, categorical, rare_levels, missing
        As for `d_shapley`.

    Returns
    -------
    Values

    Examples
    --------
    >>> from dshap import baselines
    >>> from dshap.datasets import gaussian_r
    >>> X, y = gaussian_r(100, 2, seed=3)
    >>> len(baselines.leave_one_out(X, y, test=gaussian_r(300, 2, seed=4)))
    100
    """
    return _valued("loo", locals())


def knn_shapley(
    X: Any,
    y: Any,
    *,
    test: Any = None,
    task: str | None = None,
    k: int = 5,
    metric: str = "euclidean",
    scale: str = "std",
    samples: int | None = None,
    categorical: list[Any] | None = None,
    rare_levels: int | None = None,
    missing: str = "error",
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Values:
    """KNN-Shapley (Jia et al. 2019): Shapley values of a finite dataset for nearest neighbours, in closed form.

    The same as `explain_training` of a valuer with `method='knn-shapley'`.

    Parameters
    ----------
    X, y, task, seed, n_jobs, progress
        As for `d_shapley`; not for densities.
    test : pair (X_test, y_test), optional
        Rows that the nearest rows predict. By default each row is predicted by the others; `samples` limits their number.
    k, metric, scale, samples, categorical, rare_levels, missing
        As for `RegressionValuer` and `ClassificationValuer`.

    Returns
    -------
    Values
        With standard errors that measure the error from the test rows being a sample.

    Examples
    --------
    >>> from dshap import baselines
    >>> from dshap.datasets import gaussian_c
    >>> X, y = gaussian_c(50, seed=3)
    >>> len(baselines.knn_shapley(X, y, k=3))
    50
    """
    if task is None:
        task = task_of(_sets.rows(X, y, None, None).table)
    kind = RegressionValuer if task == "regression" else ClassificationValuer
    _sets.rows(X, y, task, categorical)
    if task == "density":
        raise _sets.InputError("nearest neighbours predict a target, so there is no value for densities; give y")
    valuer = kind(
        method="knn-shapley", k=k, metric=metric, scale=scale, samples=samples, categorical=categorical,
        rare_levels=rare_levels, missing=missing, seed=seed, n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    return valuer.fit(X, y, test=test).explain_training(std_error=True)


def random(X: Any, y: Any = None, *, seed: int = 0) -> Values:
    """Random numbers from 0 to 1, which any method must beat.

    Parameters
    ----------
    X : array or frame of shape (n_rows, n_features)
        Only its number of rows matters.
    y : optional
        Not used.
    seed : int, default=0
        Seed of the numbers.

    Returns
    -------
    Values

    Examples
    --------
    >>> from dshap import baselines
    >>> values = baselines.random(np.zeros((4, 2)), seed=7)
    >>> bool(((values > 0) & (values < 1)).all())
    True
    """
    _inputs.refuse_unusable(X)
    shape = shape_of(X if is_frame(X) else _inputs.array(X))
    n_rows = len(_sets.rows(X, None, None, None).table) if shape is None else shape[0]
    value = chance(n_rows, _checks.whole("seed", seed, 0, 2**64 - 1))
    return Values._of({"value": value, "notes": []}, index=X.index if is_pandas(X) else None)


def _valued(name: str, given: dict[str, Any]) -> Values:
    """Values by the baseline of that name; `given` holds the arguments of its function."""
    X, y, test, reference = given["X"], given["y"], given["test"], given.get("reference")
    if callable(given["utility"]):
        return _of_sets(name, given)
    options, categorical = _sets.options(given), given["categorical"]
    threads = _checks.threads(given["n_jobs"])
    if reference is None:
        rows = _sets.rows(X, y, options.task, categorical)
        points, known = rows.table, None
    else:
        # Columns become numbers as in the reference.
        rows = _sets.rows(*_sets.pair(reference, "reference", y is not None), options.task, categorical)
        beside = rows.beside((X, y), "point")
        assert beside is not None, "there are points"
        points, known = beside, rows.table
    with _sets.bar(given["progress"]) as bar:
        found = baseline(name, points, options, rows.categorical, known, rows.beside(test, "test"), threads, bar)
    _sets.issue(found.pop("warnings"))
    return Values._of(found, index=X.index if is_pandas(X) else None)


#: What a function as utility leaves to this package.
OF_SETS = ("X", "y", "utility", "m", "q", "samples", "stop", "seed", "n_jobs", "progress")


def _of_sets(name: str, given: dict[str, Any]) -> Values:
    """Values by what a function says that sets of rows are worth."""
    function: Any = globals()[name.replace("-", "_") if name != "loo" else "leave_one_out"]
    usual = defaults(function)
    for option in given:
        if option not in OF_SETS and given[option] is not usual.get(option):
            raise InputError(
                f"`{option}` does not go with a function as `utility`, which has its own models and test rows; leave it out"
            )
    n_rows = len(given["X"])
    options = _sets.options({**given, "utility": None})
    options.m, options.q = _checks.size("m", options.m), _checks.size("q", options.q)
    with _sets.bar(given["progress"]) as bar:
        found = baseline_of_sets(name, n_rows, given["utility"], options, _checks.threads(given["n_jobs"]), bar)
    _sets.issue(found.pop("warnings"))
    X = given["X"]
    return Values._of(found, index=X.index if is_pandas(X) else None)
