"""`DensityValuer`: values rows for a density estimate, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dshap._base import BaseValuer
from dshap._docstrings import documented
from dshap._parameters import DensityParameters
from dshap._values import Values

__all__ = ["DensityValuer"]


@documented
class DensityValuer(DensityParameters, BaseValuer):
    """Values rows for an estimate of how data are distributed, in closed form.

    A kernel smooths a set of rows into a density estimate; the smaller its integrated
    squared error, the more the set is worth. The value of a row is the expected drop in
    that error when the row joins a random set of 0 … m−1 others, averaged over these
    sizes. There is no target and no q: any set has an estimate.

    A row is worth most where many others are near. It is worth least at the edge of the
    data, where smoothing already puts too much; further out there is nothing to spoil,
    and values rise a little again. So the row furthest from all others is the one with
    the lowest `log_density`, not always the one with the lowest value.

    The sign has no meaning, since all values hold the same constant. With many columns
    the constant is so large that `value` keeps few digits of the differences between
    rows; `explain` has `relative`, the value without the constant.

    In several columns the kernel is the product of kernels. Every category has a column,
    the first included.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth, in units of the scaled columns.
    bandwidth_curve_ : array of shape (n_tried, 2)
        The bandwidths that were tried and the score of each, larger being better; no
        rows unless `bandwidth='auto'`.
    n_rows_ : int
        Reference rows.
    rows_used_ : int
        Reference rows that values are against: all, or a sample.
    p_, m_ : int
        Design columns that vary, and largest set size.
    log_unit_ : float
        Values are in units of e to this power; 0 unless densities are beyond the range
        of doubles, as with hundreds of columns.
    dropped_ : list of str
        Columns left out because they are constant.
    {attributes}

    Examples
    --------
    >>> from dshap import DensityValuer
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> X[7] = [9.0, -9.0]                           # far from everything
    >>> valuer = DensityValuer().fit(X)
    >>> int(valuer.explain_training().log_density.argmin())
    7
    >>> centre, edge = valuer.value([[0.0, 0.0], [3.0, 3.0]])
    >>> bool(centre > edge)
    True
    """

    __module__ = "dshap"

    _TASK: ClassVar[str] = "density"
    _LEARNED: ClassVar[tuple[str, ...]] = (
        "bandwidth",
        "bandwidth_curve",
        "columns",
        "dropped",
        "log_unit",
        "m",
        "n_rows",
        "p",
        "rows_used",
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the reference: scaling, bandwidth and the rows themselves.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            NumPy, pandas, polars, pyarrow, or anything with the Arrow PyCapsule
            interface.
        y : ignored
            For pipelines, as in the density estimators of scikit-learn.

        Returns
        -------
        self

        Raises
        ------
        InputError
            For data that cannot be fitted; the message says what, where and what to try.
        """
        return self._fit(X)

    def value(self, X: Any, *, m: int | None = None, as_frame: bool = False) -> NDArray[np.float64] | Any:
        """Value rows, seen or unseen, against the reference.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            With the columns of the reference.
        m : int, optional
            A largest set size instead of that of the fit.
        as_frame : bool, default=False
            Return a frame of the kind of X, with the parts of the values.

        Returns
        -------
        array of shape (n_rows,) or frame
            In row order; NaN where a row has no value.
        """
        return self._value(X, m=m, as_frame=as_frame)

    def explain(self, X: Any, *, m: int | Sequence[int] | None = None, std_error: bool = False) -> Values:
        """Value rows, with the parts of the values.

        Parameters
        ----------
        X
            As for `value`.
        m : int or list of int, optional
            As for `value`; with several sizes, `value` is that of the first and `at_m` has all.
        std_error : bool, default=False
            Whether to add standard errors.

        Returns
        -------
        Values
            With `log_density`, the logarithm of the estimate at the row (−inf where a
            compact kernel reaches no reference row), and `relative`, the value without
            the constant that all rows share.
        """
        return self._explain(X, m=m, std_error=std_error)

    def standard_errors(self, X: Any, *, m: int | None = None) -> NDArray[np.float64]:
        """Standard errors of the values of rows, at the bandwidth used.

        They measure the error from the reference being a sample; `'monte-carlo'` has none.

        Parameters
        ----------
        X, m
            As for `value`.

        Returns
        -------
        array of shape (n_rows,)
        """
        return self._standard_errors(X, m=m)

    def merge(self, *others: DensityValuer) -> DensityValuer:
        """One valuer of several whose references have no row in common.

        Scaling and bandwidth are found again for all rows. Where parts are samples, the
        same share of each is kept.

        Parameters
        ----------
        *others : DensityValuer
            Fitted with the same columns, kernel, scaling and choice of bandwidth.

        Returns
        -------
        DensityValuer
            A new one, as if fitted to all rows together, up to rounding.

        Examples
        --------
        >>> from dshap import DensityValuer
        >>> X = np.random.default_rng(0).normal(size=(400, 2))
        >>> DensityValuer().fit(X[:150]).merge(DensityValuer().fit(X[150:])).n_rows_
        400
        """
        return self._merged(others)

    def _target_of(self, y: Any) -> None:
        """Nothing is predicted."""
