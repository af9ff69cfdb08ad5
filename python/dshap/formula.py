"""The closed forms themselves, for given numbers.

Arguments broadcast against each other as in NumPy; results have the common
shape. The letters are those of the paper: `p` design columns, set sizes from `q`
to `m`, squared distance `d2`, squared residual `e2`, noise variance `sigma2`,
bandwidth `h`. `density` takes rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dshap import _checks, _dshap
from dshap._errors import InputError, InputTypeError

__all__ = [
    "Bounds",
    "Classification",
    "Regression",
    "Synergy",
    "bounds",
    "classification",
    "density",
    "regression",
    "synergy",
]


class Regression(NamedTuple):
    """The forms of Theorem 2; NaN where a form does not exist."""

    gain: NDArray[Any]  #: expected drop in squared error (``q >= p + 3``)
    simple: NDArray[Any]  #: with Theorem 2's constant (``q >= p + 2``)
    full: NDArray[Any]  #: the full value, given `C_lin` (``q >= p + 2``)
    printed: NDArray[Any]  #: the sum as printed, off by one (``q >= p + 1``)


class Classification(NamedTuple):
    """The forms of Corollary 4; NaN where a form does not exist."""

    gain: NDArray[Any]  #: expected drop in squared error on the working variables (``q >= p + 3``)
    potential: NDArray[Any]  #: what the position of the row could bring with a perfect label
    penalty: NDArray[Any]  #: what its label costs: gain = potential - penalty
    simple: NDArray[Any]  #: with Theorem 2's constant (``q >= p + 2``)


class Bounds(NamedTuple):
    """The bounds of Theorem 3; infinite where a bound says nothing."""

    lower: NDArray[Any]
    upper: NDArray[Any]
    printed_lower: NDArray[Any]  #: to the letter of the paper, which bounds nothing
    printed_upper: NDArray[Any]
    authors_lower: NDArray[Any]  #: as in the authors' program, which bounds nothing either
    authors_upper: NDArray[Any]


class Synergy(NamedTuple):
    """The forms of Example 2."""

    threshold: NDArray[Any]  #: smallest distance of two points with synergy; NaN if none has it, 0 if all have
    probability: NDArray[Any]  #: that two independent points have it, where the forms hold
    printed: NDArray[Any]  #: the same as printed, where points come closer to the ends of [0, 1]


def regression(
    p: ArrayLike,
    q: ArrayLike,
    m: ArrayLike,
    d2: ArrayLike,
    e2: ArrayLike,
    sigma2: ArrayLike,
    C_lin: ArrayLike | None = None,
    *,
    semivalue: str = "shapley",
    b: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    c: ArrayLike | None = None,
    intercept: str = "known",
    n_jobs: int | None = None,
) -> Regression:
    """Theorem 2: values of rows from their squared distances and residuals.

    Parameters
    ----------
    p, q, m : array_like
        Design columns, smallest and largest set size.
    d2, e2, sigma2 : array_like
        Squared Mahalanobis distance, squared residual, noise variance.
    C_lin : array_like, optional
        The constant of the full value; without it, `full` is NaN.
    semivalue : str, default "shapley"
        How much each set size counts: ``shapley``, ``banzhaf``, ``beta:A,B`` or ``at-m``. It changes `gain`;
        the other forms are NaN unless it is ``shapley``.
    b, tau, c : array_like, optional
        For test rows: how much they vary along the row, in all directions, and where the model is wrong about
        them; see docs/target.md. NaN stands for rows like the reference. They change `gain`; the other forms
        are NaN.
    intercept : str, default "known"
        ``known``, or ``refitted`` on each set, exactly; `p` counts features only. The latter changes `gain`,
        and the other forms are NaN.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    Regression
        Arrays `gain`, `simple`, `full`, `printed`.

    Raises
    ------
    InputError
        For numbers that make no sense; the message has the number of the case.

    Examples
    --------
    A row without an error helps; a row with a large error harms:

    >>> from dshap.formula import regression
    >>> forms = regression(p=10, q=50, m=1000, d2=12, e2=[0, 1, 100], sigma2=1)
    >>> np.sign(forms.gain)
    array([ 1.,  1., -1.])
    """
    optional = [np.nan if given is None else given for given in (C_lin, b, tau, c)]
    columns, shape = _flat([p, q, m, d2, e2, sigma2, *optional])
    found = _dshap.regression(columns, semivalue=semivalue, intercept=intercept, n_jobs=_checks.threads(n_jobs))
    return Regression(*(column.reshape(shape) for column in found))


def classification(
    p: ArrayLike,
    q: ArrayLike,
    m: ArrayLike,
    d2: ArrayLike,
    prob: ArrayLike,
    y: ArrayLike,
    *,
    n_jobs: int | None = None,
) -> Classification:
    """Corollary 4: values of labelled rows from their squared distances and probabilities.

    Parameters
    ----------
    p, q, m : array_like
        Design columns, the intercept included, smallest and largest set size.
    d2 : array_like
        Squared Mahalanobis distance on the working variables, the part `dist_sq`.
    prob : array_like
        Probability of label 1 under the fit, between 0 and 1.
    y : array_like
        The label, 0 or 1.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    Classification
        Arrays `gain`, `potential`, `penalty`, `simple`.

    Examples
    --------
    The less likely its label, the more a row costs:

    >>> from dshap.formula import classification
    >>> forms = classification(p=5, q=20, m=500, d2=6, prob=[0.5, 0.9, 0.99], y=0)
    >>> bool((np.diff(forms.penalty) > 0).all())
    True
    """
    columns, shape = _flat([p, q, m, d2, prob, y])
    found = _dshap.classification(columns, n_jobs=_checks.threads(n_jobs))
    return Classification(*(column.reshape(shape) for column in found))


def bounds(
    p: ArrayLike,
    q: ArrayLike,
    m: ArrayLike,
    d2: ArrayLike,
    e2: ArrayLike,
    sigma2: ArrayLike,
    *,
    gamma: ArrayLike = 0.0,
    lambda_min: ArrayLike = 1.0,
    lambda_max: ArrayLike = 1.0,
    c: ArrayLike = 0.5,
    C: ArrayLike = 1.0,
    n_jobs: int | None = None,
) -> Bounds:
    """Theorem 3: bounds on the values of rows, for sub-Gaussian inputs.

    Parameters
    ----------
    p, q, m, d2, e2, sigma2 : array_like
        As in `regression`.
    gamma : array_like
        Ridge penalty.
    lambda_min, lambda_max : array_like
        Smallest and largest eigenvalue of the inverse covariance.
    c, C : array_like
        Constants of the tail and of the edge of the eigenvalues.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    Bounds
        Arrays `lower`, `upper` (valid), `printed_lower`, `printed_upper` (the paper to the letter),
        `authors_lower`, `authors_upper` (as in its authors' program).

    Examples
    --------
    >>> from dshap.formula import bounds, regression
    >>> case = dict(p=3, q=400, m=1000, d2=3.0, e2=0.5, sigma2=1.0)
    >>> low, high = bounds(**case)[:2]
    >>> bool(low < regression(**case).gain < high)
    True
    """
    columns, shape = _flat([p, q, m, gamma, lambda_min, lambda_max, c, C, d2, e2, sigma2])
    found = _dshap.bounds(columns, n_jobs=_checks.threads(n_jobs))
    return Bounds(*(column.reshape(shape) for column in found))


def density(
    reference: ArrayLike,
    points: ArrayLike,
    bandwidth: float,
    m: int,
    kernel: str = "gaussian",
    as_set: bool = False,
    *,
    n_jobs: int | None = None,
) -> Any:
    """Theorem 5: values of rows, or of a set, for a kernel density estimate.

    Columns are taken as they are: none is scaled, none is left out, and no point is
    left out of the reference.

    Parameters
    ----------
    reference : array_like of shape (n_reference, n_columns)
        Rows that stand for the distribution of the data.
    points : array_like of shape (n_points, n_columns)
        Rows to be valued.
    bandwidth : float
        Width of the kernel, from 1e-30 to 1e30.
    m : int
        Largest set size, the row or the set included.
    kernel : str
        `'gaussian'`, `'uniform'`, `'epanechnikov'` or `'triangular'`; in several columns
        their product.
    as_set : bool
        Value all points as one set.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    array of shape (n_points,), or float if `as_set`
        Without the constant that all rows, or all sets of one size, share.

    Examples
    --------
    >>> from dshap.formula import density
    >>> values = density([[0.0], [0.1], [0.2]], [[0.1], [3.0]], bandwidth=0.5, m=100)
    >>> bool(values[0] > values[1])
    True
    """
    rows, cells = _rows(reference, "reference"), _rows(points, "points")
    if rows.shape[1] != cells.shape[1]:
        raise InputError(f"points has {cells.shape[1]} columns, but reference has {rows.shape[1]}")
    if not isinstance(kernel, str):
        raise InputTypeError(f"`kernel` is {kernel!r}; expected a word, such as 'gaussian'")
    try:
        width = float(bandwidth)
    except (TypeError, ValueError):
        raise InputTypeError(f"`bandwidth` is {bandwidth!r}; expected a number") from None
    most = _checks.whole("m", m, 1, _checks.LARGEST_SIZE)
    as_set = _checks.flag("as_set", as_set)
    found = _dshap.density(rows, cells, kernel, width, most, as_set, _checks.threads(n_jobs))
    return float(found[0]) if as_set else found


def synergy(
    h: ArrayLike,
    m: ArrayLike,
    c_den: ArrayLike,
    *,
    border: bool = False,
    n_jobs: int | None = None,
) -> Synergy:
    """Examples 1 and 2: when two points are worth more together than apart.

    For a uniform kernel and uniform data on [0, 1].

    Parameters
    ----------
    h : array_like
        Width of the kernel, above 0 and up to a half.
    m : array_like
        Largest set size, the points included.
    c_den : array_like
        The utility of a perfect estimate.
    border : bool
        Count what the ends of [0, 1] take in `probability`. By default its points keep
        away from the ends.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    Synergy
        Arrays `threshold`, `probability` and `printed`.

    Examples
    --------
    >>> from dshap.formula import synergy
    >>> forms = synergy(h=0.1, m=100, c_den=[0.1, 0.2])
    >>> forms.probability.shape
    (2,)
    """
    columns, shape = _flat([h, m, c_den])
    found = _dshap.synergy(columns, _checks.flag("border", border), _checks.threads(n_jobs))
    return Synergy(*(column.reshape(shape) for column in found))


def _rows(given: ArrayLike, what: str) -> NDArray[np.float64]:
    """Rows of finite numbers, cell after cell."""
    try:
        rows = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} holds something that is not a number: {error}") from None
    if rows.ndim != 2 or 0 in rows.shape:
        raise InputError(f"{what} should have rows and columns, got an array of shape {np.shape(given)} instead")
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0].tolist()
        raise InputError(f"{what}[{row}, {column}] is {rows[row, column]}; expected a finite number")
    return rows


def _flat(given: list[ArrayLike]) -> tuple[list[NDArray[Any]], tuple[int, ...]]:
    try:
        arrays = np.broadcast_arrays(*(np.asarray(column, dtype=np.float64) for column in given))
    except (TypeError, ValueError) as error:
        raise InputError(f"the arguments are not numbers of one shape: {error}") from None
    return [np.ascontiguousarray(column).ravel() for column in arrays], arrays[0].shape
