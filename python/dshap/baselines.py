"""What rows were worth before there were closed forms: models are fitted to sets of rows, again and again.

They serve to check closed forms, to compare with, and to value rows for a utility that has no closed form. What a set is
worth is measured on test rows that have no part in any set: `test=(X_test, y_test)`, or else one row in five, drawn by
`seed`; those rows then have no value and the note `'test row'`.

==================  ==========================================================================
`d_shapley`         expected gain on joining a random set of other rows, as the closed forms have it
`tmc_shapley`       Shapley values of a finite dataset, by random orders
`exact_shapley`     the same by all sets, of up to 20 rows
`knn_shapley`       the same for nearest neighbours, in closed form
`leave_one_out`     what all rows lose without each
`random`            numbers by chance, which any method must beat
==================  ==========================================================================

All of them return `dshap.Values`. Those that draw have the Monte Carlo standard error of each value in `stderr`. The same
seed gives the same bits on any number of threads, and those of `dshap value --method ...` on the command line.

>>> import dshap
>>> X, y = dshap.datasets.gaussian_r(60, 2, seed=1)
>>> test = dshap.datasets.gaussian_r(500, 2, seed=1)
>>> values = dshap.baselines.leave_one_out(X, y, test=test)
>>> len(values), values.stderr is None
(60, True)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dshap import _checks, _inputs, _sets
from dshap._classification import ClassificationValuer
from dshap._dshap import baseline, chance, task_of
from dshap._kinds import is_frame, is_pandas, shape_of
from dshap._regression import RegressionValuer
from dshap._values import Values

__all__ = ["d_shapley", "exact_shapley", "knn_shapley", "leave_one_out", "random", "tmc_shapley"]


def d_shapley(
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    reference: Any = None,
    task: str | None = None,
    utility: str | None = None,
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
    missing: str = "error",
    unseen: str = "error",
    samples: int | None = None,
    stop: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Values:
    """D-Shapley (Ghorbani, Kim and Zou 2020): the expected gain on joining a random set of other rows.

    It estimates what the closed forms compute, for models that are really refitted on each set, and is the way to check
    them. That takes thousands of reference rows and of test rows: of few it measures what one of them says about the noise
    of the others.

    Parameters
    ----------
    X : array or frame of shape (n_rows, n_features)
        NumPy, pandas, polars, pyarrow, or anything with the Arrow PyCapsule interface.
    y : array of shape (n_rows,), optional
        Targets: numbers of a regression, labels of a classification; none of a density.
    test : pair (X_test, y_test), optional
        Rows that measure what sets are worth; of a density X_test alone. By default one row in five of the reference.
    reference : pair (X_reference, y_reference), optional
        Rows that sets are drawn from. By default X itself, each row against the others.
    task : 'regression', 'classification' or 'density', optional
        By default guessed: a density without y, a classification if y is text, true and false, or has two values.
    utility : 'accuracy' or 'log-loss', optional
        What a model of labels is judged by. By default accuracy.
    m, q : int, optional
        Largest set size, the row included, and smallest set whose utility counts. By default as those of the valuers.
    ridge : float, optional
        Ridge penalty of every fit. By default 0, and 1 in a classification.
    intercept, refit_intercept, dependent
        As of `RegressionValuer`.
    kernel, bandwidth, scale : optional
        As of `DensityValuer`, for densities only.
    categorical, missing, unseen
        As of the valuers.
    samples : int, optional
        Most iterations. By default 10 000.
    stop : float, optional
        When the means have come to rest: they move by less, on average over rows and relative to themselves, in a
        hundred iterations. By default 0.05; 0 runs all iterations.
    seed : int, default=0
        Seed of draws, and of the choice of test rows.
    n_jobs : int, optional
        Number of threads; all cores by default. The result does not depend on it.
    progress : bool, default=False
        Show bars (needs tqdm).

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
    options = _sets.options(
        task=task, utility=utility, m=m, q=q, ridge=ridge, intercept=intercept, refit_intercept=refit_intercept,
        dependent=dependent, kernel=kernel, bandwidth=bandwidth, scale=scale, missing=missing, unseen=unseen,
        samples=samples, stop=stop, seed=seed,
    )  # fmt: skip
    return _valued("d-shapley", X, y, options, categorical, test, n_jobs, progress, reference)


def tmc_shapley(
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    task: str | None = None,
    utility: str | None = None,
    q: int | None = None,
    ridge: float | None = None,
    intercept: bool = True,
    refit_intercept: bool = False,
    dependent: str = "drop",
    kernel: str | None = None,
    bandwidth: str | float | None = None,
    scale: str | None = None,
    categorical: list[Any] | None = None,
    missing: str = "error",
    samples: int | None = None,
    stop: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Values:
    """TMC-Shapley (Ghorbani and Zou 2019): Shapley values of a finite dataset, by random orders that end early.

    The values add up to what all rows are worth, but for what is left when an order ends because that is nearly reached.

    Parameters
    ----------
    X, y, test, task, utility, q, ridge, samples, stop, seed, n_jobs, progress
        As of `d_shapley`; iterations are orders.
    intercept, refit_intercept, dependent, kernel, bandwidth, scale, categorical, missing
        As of `d_shapley`.

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
    """
    options = _sets.options(
        task=task, utility=utility, q=q, ridge=ridge, intercept=intercept, refit_intercept=refit_intercept,
        dependent=dependent, kernel=kernel, bandwidth=bandwidth, scale=scale, missing=missing, samples=samples,
        stop=stop, seed=seed,
    )  # fmt: skip
    return _valued("tmc-shapley", X, y, options, categorical, test, n_jobs, progress)


def exact_shapley(
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    task: str | None = None,
    utility: str | None = None,
    q: int | None = None,
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
) -> Values:
    """Shapley values of a finite dataset by all sets: of up to 20 rows, of a density in closed form for any number.

    Parameters
    ----------
    X, y, test, task, utility, q, ridge, seed, n_jobs, progress
        As of `d_shapley`.
    intercept, refit_intercept, dependent, kernel, bandwidth, scale, categorical, missing
        As of `d_shapley`.

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
    options = _sets.options(
        task=task, utility=utility, q=q, ridge=ridge, intercept=intercept, refit_intercept=refit_intercept,
        dependent=dependent, kernel=kernel, bandwidth=bandwidth, scale=scale, missing=missing, seed=seed,
    )  # fmt: skip
    return _valued("exact-shapley", X, y, options, categorical, test, n_jobs, progress)


def leave_one_out(
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    task: str | None = None,
    utility: str | None = None,
    q: int | None = None,
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
) -> Values:
    """What all rows lose without each: fast, and weak, since near-twins hide each other.

    Parameters
    ----------
    X, y, test, task, utility, q, ridge, seed, n_jobs, progress
        As of `d_shapley`.
    intercept, refit_intercept, dependent, kernel, bandwidth, scale, categorical, missing
        As of `d_shapley`.

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
    options = _sets.options(
        task=task, utility=utility, q=q, ridge=ridge, intercept=intercept, refit_intercept=refit_intercept,
        dependent=dependent, kernel=kernel, bandwidth=bandwidth, scale=scale, missing=missing, seed=seed,
    )  # fmt: skip
    return _valued("loo", X, y, options, categorical, test, n_jobs, progress)


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
        As of `d_shapley`; there is no density.
    test : pair (X_test, y_test), optional
        Rows that the nearest are to predict. By default the rows themselves, each by the others, or `samples` of them.
    k, metric, scale, samples, categorical, missing
        As of `RegressionValuer` and `ClassificationValuer`.

    Returns
    -------
    Values
        With standard errors from the test rows being a sample.

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
        raise _sets.InputError("nearest neighbours predict, so that there is no density of theirs; give y")
    valuer = kind(
        method="knn-shapley", k=k, metric=metric, scale=scale, samples=samples, categorical=categorical,
        missing=missing, seed=seed, n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    return valuer.fit(X, y, test=test).explain_training(std_error=True)


def random(X: Any, y: Any = None, *, seed: int = 0) -> Values:
    """Numbers by chance, from 0 to 1: what any method must beat.

    Parameters
    ----------
    X : array or frame of shape (n_rows, n_features)
        Only its number of rows matters.
    y : optional
        Not looked at.
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


def _valued(
    name: str,
    X: Any,
    y: Any,
    options: Any,
    categorical: Any,
    test: Any,
    n_jobs: Any,
    progress: Any,
    reference: Any = None,
) -> Values:
    threads = _checks.threads(n_jobs)
    if reference is None:
        rows = _sets.rows(X, y, options.task, categorical)
        points, known = rows.table, None
    else:
        # Columns become numbers as those of the reference do.
        rows = _sets.rows(*_sets.pair(reference, "reference", y is not None), options.task, categorical)
        given = rows.beside((X, y), "point")
        assert given is not None, "there are points"
        points, known = given, rows.table
    with _sets.bar(progress) as bar:
        found = baseline(
            name, points, options, rows.categorical, known, rows.beside(test, "test"), threads, bar
        )
    _sets.tell(found.pop("warnings"))
    return Values._of(found, index=X.index if is_pandas(X) else None)
