"""`RegressionValuer`: rows valued for linear regression, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils.metaestimators import available_if

from dshap import _checks
from dshap._base import OUTSIDE
from dshap._errors import InputError
from dshap._inputs import Target, numbers
from dshap._prediction import PredictionValuer

__all__ = ["RegressionValuer"]


def _can_take_more(estimator: RegressionValuer) -> bool:
    if estimator.method in ("calibrated", "general", "knn", "knn-shapley"):
        raise AttributeError(
            f"a valuer by method='{estimator.method}' cannot take further rows, since it depends on the rows it was "
            "fitted to; fit the whole reference anew, or use method='gaussian'"
        )
    if estimator.pca is not None:
        raise AttributeError(
            "a valuer with principal components cannot take further rows, since they are those of the rows it was "
            "fitted to; fit the whole reference anew, or leave `pca` out"
        )
    return True


class RegressionValuer(PredictionValuer):
    """Values rows for linear regression, in closed form.

    The value of a row is the expected drop in squared prediction error when it
    joins a random set of other rows, summed over set sizes q−1 … m−1 and divided
    by m. Positive: the row is expected to help. `fit` takes the reference, which
    stands for the distribution of the data; `value` takes any rows.

    Parameters
    ----------
    method : str, default='gaussian'
        `'gaussian'`: exact for Gaussian inputs. `'calibrated'`: calibrated to
        other inputs. `'general'`: by drawing sets, for any inputs and with a
        ridge. `'lower'`, `'upper'`: bounds. `'algorithm-3'`: the paper's Monte
        Carlo. `'knn'`: for a model that is the mean of the nearest rows.
        `'knn-shapley'`: the same as Shapley values of a finite dataset; only
        `value_training`.
    m : int, optional
        Largest set size, the row included. By default the number of reference rows.
    q : int, optional
        Smallest set whose utility counts. By default p + max(p, 10), at most m,
        at least p + 3, for p design columns; for `'knn'` k + 1.
    intercept : bool, default=True
        Centre features and target by the reference means.
    refit_intercept : bool, default=False
        Value a model that fits its intercept anew on each set.
    ridge : float, default=0.0
        Ridge penalty of `'general'`, `'lower'` and `'upper'`.
    constant : str, default='gain'
        The row-independent constant of `'gaussian'`: `'gain'`, `'theorem'` or
        `'full:C'` with a number C.
    convention : str, default='definition'
        The sum as defined, or as `'printed'` in the paper.
    bound_c, bound_C : float, optional
        Constants of `'lower'` and `'upper'`. By default 0.5 and 1.
    stop : float, optional
        When draws are good enough: for `'general'` errors as a share of the spread
        of values (0.02 by default), for `'algorithm-3'` its ρ₂ (0.005).
    stop_draws : float, optional
        ρ₁ of `'algorithm-3'`; 0.01 by default.
    samples : int, optional
        Rounds of `'general'` at most (4096 by default), draws per set size of
        `'algorithm-3'` (1000), reference rows that are test rows of `'knn'` and
        `'knn-shapley'` (10 000).
    seed : int, default=0
        Seed of methods that draw, and of a sample of test rows.
    k : int, default=5
        `'knn'`, `'knn-shapley'`: how many nearest rows of a set predict.
    metric : str, default='euclidean'
        `'knn'`, `'knn-shapley'`: how far apart rows are. `'euclidean'`,
        `'manhattan'` or `'cosine'`.
    scale : str, default='std'
        `'knn'`, `'knn-shapley'`: columns over their standard deviations, or
        `'none'`: as they are.
    dependent : str, default='drop'
        Columns that are constant or depend on earlier ones: `'drop'` or `'error'`.
    pca : int, optional
        Reduce the columns to so many leading principal components of the reference,
        centred and not scaled: for embeddings, such as the last layer of a network.
    categorical : list, optional
        Columns that are categories whatever they hold: names, or numbers where
        columns have no names. Text and categorical columns of a frame are
        categories in any case.
    missing : str, default='error'
        Missing cells: `'error'`, `'drop'` (such rows have no value and no part in
        the fit) or `'mean'` of the reference column.
    unseen : str, default='error'
        Categories that the reference does not have: `'error'`, or `'zero'`, like
        its first one.
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
    coef_ : array of shape (n_columns,)
        Coefficients of the design columns; 0 for dropped ones.
    intercept_ : float
        Fitted target where all features are 0.
    noise_var_ : float
        Estimated noise variance.
    r_squared_ : float
        Share of the target's variation that the features explain.
    n_rows_ : int
        Reference rows.
    test_rows_ : int
        `'knn'`, `'knn-shapley'`: rows that utility is measured on. These have no
        coefficients, noise variance and R².
    effective_rows_ : float
        How many rows without weights would tell as much: (Σw)²/Σw².
    p_, q_, m_ : int
        Design columns, smallest and largest set size.
    columns_ : list of str
        Names of the design columns, such as `age` or `city=Paris`.
    dropped_ : list of str
        Columns left out because they are constant or dependent.
    n_features_in_ : int
        Features seen during fit.
    feature_names_in_ : array of str
        Their names, if they have any.
    warnings_ : list of str
        Doubts about the fit.

    Examples
    --------
    >>> from dshap import RegressionValuer
    >>> from dshap.datasets import gaussian_r
    >>> X, y = gaussian_r(300, 4, seed=0)
    >>> y[0] += 20                                   # a row that contradicts the others
    >>> valuer = RegressionValuer().fit(X, y)
    >>> int(valuer.value_training().argmin())
    0
    >>> new_X, new_y = gaussian_r(100, 4, seed=0)
    >>> bool((valuer.value(new_X, new_y) > 0).mean() > 0.8)
    True
    """

    __module__ = "dshap"

    _TASK: ClassVar[str] = "regression"
    _LEARNED: ClassVar[tuple[str, ...]] = (
        "coef",
        "columns",
        "dropped",
        "effective_rows",
        "intercept",
        "m",
        "n_rows",
        "noise_var",
        "p",
        "q",
        "r_squared",
        "test_rows",
    )

    def __init__(
        self,
        method: str = "gaussian",
        *,
        m: int | None = None,
        q: int | None = None,
        intercept: bool = True,
        refit_intercept: bool = False,
        ridge: float = 0.0,
        constant: str = "gain",
        convention: str = "definition",
        bound_c: float | None = None,
        bound_C: float | None = None,
        stop: float | None = None,
        stop_draws: float | None = None,
        samples: int | None = None,
        seed: int = 0,
        k: int = 5,
        metric: str = "euclidean",
        scale: str = "std",
        dependent: str = "drop",
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
        self.q = q
        self.intercept = intercept
        self.refit_intercept = refit_intercept
        self.ridge = ridge
        self.constant = constant
        self.convention = convention
        self.bound_c = bound_c
        self.bound_C = bound_C
        self.stop = stop
        self.stop_draws = stop_draws
        self.samples = samples
        self.seed = seed
        self.k = k
        self.metric = metric
        self.scale = scale
        self.dependent = dependent
        self.pca = pca
        self.categorical = categorical
        self.missing = missing
        self.unseen = unseen
        self.keep_training = keep_training
        self.n_jobs = n_jobs
        self.progress = progress

    @available_if(_can_take_more)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> RegressionValuer:
        """Add rows to the reference without the rows before; the first call fits.

        For `'gaussian'`, `'algorithm-3'` and bounds. m and q are those the estimator
        has now, and follow the number of rows unless they are given; other
        parameters must be those of the first rows. Rows are not kept for
        `value_training`.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        self
        """
        if "_fitted" not in self.__dict__:
            self.fit(X, y, sample_weight)
            self.__dict__.pop("_training", None)
            return self
        self._refuse_other_params()
        table = self._table(X, y, sample_weight)
        m, q = _checks.size("m", self.m), _checks.size("q", self.q)
        with self._bar() as bar:
            fitted = self._fitted.updated(table, m, q, self._threads(), bar)
        self._adopt(fitted, self._names)
        self._fitted_params = self.get_params(deep=False)
        self._warn(fitted.warnings)
        return self

    def merge(self, *others: RegressionValuer) -> RegressionValuer:
        """One valuer of several whose references have no row in common.

        Parameters
        ----------
        *others : RegressionValuer
            Fitted with the same columns and parameters.

        Returns
        -------
        RegressionValuer
            A new one, as if fitted to all rows together, up to rounding.

        Examples
        --------
        >>> from dshap import RegressionValuer
        >>> from dshap.datasets import gaussian_r
        >>> X, y = gaussian_r(400, 3)
        >>> north, south = RegressionValuer().fit(X[:150], y[:150]), RegressionValuer().fit(X[150:], y[150:])
        >>> north.merge(south).n_rows_
        400
        """
        return self._merged(others)

    def _read_target(self, y: Any) -> Target:
        return Target(numbers(y, "y"))

    def _refuse_other_params(self) -> None:
        """Rows that are added are fitted as those before them were."""
        before = self._fitted_params
        for name, now in self.get_params(deep=False).items():
            if name not in OUTSIDE and repr(now) != repr(before[name]):
                raise InputError(
                    f"`{name}` is {now!r}, and was {before[name]!r} when the first rows were fitted; only m and q may "
                    "change in between. Fit all rows anew, or set it back"
                )
