"""`DensityValuer`: rows valued for a density estimate, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dshap._base import BaseValuer
from dshap._values import Values

__all__ = ["DensityValuer"]


class DensityValuer(BaseValuer):
    """Values rows for an estimate of how data are distributed, in closed form.

    A set of rows is smoothed by a kernel, and its estimate is worth the less the
    larger its integrated squared error is. The value of a row is the expected drop in
    that error when the row joins a random set of 0 … m−1 others, averaged over these
    sizes. There is no target and no q: an estimate can be made of any set.

    A row is worth most where many others are near. It is worth least at the edge of
    where they are, since smoothing puts too much there as it is; further out there is
    nothing to spoil, and values rise a little again. So the row furthest from
    everything is the one of lowest `log_density`, not always that of lowest value.

    The sign has no meaning, since all values hold the same constant. With many columns
    that is so large that `value` keeps few digits of what tells rows apart; `explain`
    has `relative`, which does without it.

    Parameters
    ----------
    method : str, default='closed'
        `'closed'`: every integral in closed form. `'monte-carlo'`: the paper's
        Algorithm 5, which estimates them by drawing.
    m : int, optional
        Largest set size, the row included. By default the number of reference rows.
    kernel : str, default='gaussian'
        `'gaussian'`, `'uniform'`, `'epanechnikov'` or `'triangular'`; in several
        columns their product.
    bandwidth : str or float, default='auto'
        How wide the kernel is, in units of the scaled columns: `'auto'`, the best of
        0.01, 0.03, … 10 by five-fold cross-validation (log-likelihood, for compact
        kernels least squares), `'scott'`, `'silverman'` or a number.
    scale : str, default='std'
        Columns less their mean over their standard deviation (`'std'`), or as they are
        (`'none'`).
    every_row : bool, default=False
        Sum over every reference row, also those that together are less than 1e-12 of a
        sum.
    samples : int, optional
        Most reference rows, 20000 by default; of more, so many are drawn. Time grows
        with their number.
    seed : int, default=0
        Seed of that sample, and of `'monte-carlo'`.
    pca : int, optional
        Reduce the columns to so many leading principal components of the reference,
        centred and not scaled: for embeddings, such as the last layer of a network.
    categorical : list, optional
        Columns that are categories whatever they hold: names, or numbers where
        columns have no names. Text and categorical columns of a frame are
        categories in any case. Every category has a column, the first included.
    missing : str, default='error'
        Missing cells: `'error'`, `'drop'` (such rows have no value and no part in
        the fit) or `'mean'` of the reference column.
    unseen : str, default='error'
        Categories that the reference does not have: `'error'`, or `'zero'`, none of
        those it has.
    keep_training : bool, default=True
        Keep hold of the arrays given to `fit`, for `value_training`. They are not
        copied, so they must not be changed; if they are, that is noticed.
    n_jobs : int, optional
        Number of threads. None and −1 are all cores, −2 all but one and so on; at
        most 256, or as many as there are cores, are started. The values do not
        depend on it.
    progress : bool, default=False
        Show a bar of tqdm for each pass over the data.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth, in units of the scaled columns.
    bandwidth_curve_ : array of shape (n_tried, 2)
        The bandwidths that were tried and how well each did, larger being better;
        without rows unless `bandwidth='auto'`.
    n_rows_ : int
        Reference rows.
    rows_used_ : int
        Those that values are against, all or a sample.
    p_, m_ : int
        Design columns that vary, and largest set size.
    log_unit_ : float
        Values are in units of e to this power; 0 unless densities are beyond the range
        of doubles, as they are in hundreds of columns.
    columns_ : list of str
        Names of the design columns, such as `age` or `city=Paris`.
    dropped_ : list of str
        Columns left out because they are constant.
    n_features_in_ : int
        Features seen during fit.
    feature_names_in_ : array of str
        Their names, if they have any.
    warnings_ : list of str
        Doubts about the fit.

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

    def __init__(
        self,
        method: str = "closed",
        *,
        m: int | None = None,
        kernel: str = "gaussian",
        bandwidth: str | float = "auto",
        scale: str = "std",
        every_row: bool = False,
        samples: int | None = None,
        seed: int = 0,
        pca: int | None = None,
        categorical: list[Any] | None = None,
        missing: str = "error",
        unseen: str = "error",
        keep_training: bool = True,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.method = method
        self.m = m
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.scale = scale
        self.every_row = every_row
        self.samples = samples
        self.seed = seed
        self.pca = pca
        self.categorical = categorical
        self.missing = missing
        self.unseen = unseen
        self.keep_training = keep_training
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the reference: scaling, bandwidth and the rows themselves.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            NumPy, pandas, polars, pyarrow, or anything with the Arrow PyCapsule
            interface.
        y : ignored
            There for pipelines, as with the density estimators of scikit-learn.

        Returns
        -------
        self

        Raises
        ------
        InputError
            For data that cannot be fitted: what, where, and what to try.
        """
        return self._fit(X)

    def value(self, X: Any, *, m: int | None = None, as_frame: bool = False) -> NDArray[np.float64] | Any:
        """Value rows, seen or unseen, against the reference.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            With the columns of the reference.
        m : int, optional
            Another largest set size than that of the fit.
        as_frame : bool, default=False
            Return a frame of the kind of X, with what explains the values.

        Returns
        -------
        array of shape (n_rows,) or frame
            In the order of the rows; NaN where a row has no value.
        """
        return self._value(X, m=m, as_frame=as_frame)

    def explain(self, X: Any, *, m: int | None = None, std_error: bool = False) -> Values:
        """Value rows, with what explains the values.

        Parameters
        ----------
        X, m
            As for `value`.
        std_error : bool, default=False
            Whether standard errors are wanted as well.

        Returns
        -------
        Values
            Values; `log_density`, the logarithm of the estimate at the row, which is
            −inf where a compact kernel reaches no reference row; `relative`, the value
            without the constant that all rows share; notes.
        """
        return self._explain(X, m=m, std_error=std_error)

    def standard_errors(self, X: Any, *, m: int | None = None) -> NDArray[np.float64]:
        """Standard errors of the values of rows, at the bandwidth used.

        They say what the reference being a sample costs; `'monte-carlo'` has none.

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

        Scaling and bandwidth are found anew for all rows. Of samples, equal shares
        are kept.

        Parameters
        ----------
        *others : DensityValuer
            Fitted with the same columns, kernel, scaling and way of finding the
            bandwidth.

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
