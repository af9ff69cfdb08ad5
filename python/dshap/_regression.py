"""`RegressionValuer`: values rows for linear regression, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from dshap import _checks
from dshap._base import OUTSIDE
from dshap._catalogue import methods
from dshap._docstrings import documented
from dshap._errors import InputError
from dshap._inputs import Target, numbers
from dshap._parameters import RegressionParameters
from dshap._prediction import PredictionValuer
from dshap._prediction_folds import cross_fitted_numbers, predicted_numbers, regressor_fitted_to_all

__all__ = ["RegressionValuer"]


def _can_take_more(estimator: RegressionValuer) -> bool:
    if estimator.estimator is not None:
        raise AttributeError(
            "a valuer with an `estimator` cannot take further rows, since it would have to be fitted again; fit the whole "
            "reference again, or leave out `estimator`"
        )
    entry = methods().get(str(estimator.method))
    if entry is not None and "regression" not in entry["updates"]:
        raise AttributeError(
            f"a valuer with method='{estimator.method}' cannot take further rows, since it stores data of single rows; "
            "fit the whole reference again, or use method='gaussian'"
        )
    if estimator.pca is not None:
        raise AttributeError(
            "a valuer with principal components cannot take further rows, since the components depend on all rows; fit "
            "the whole reference again, or leave out `pca`"
        )
    return True


@documented
class RegressionValuer(RegressionParameters, PredictionValuer):
    """Values rows for linear regression, in closed form.

    The value of a row is the expected drop in squared prediction error when it
    joins a random set of other rows, summed over set sizes q−1 … m−1 and divided
    by m. A positive value means the row is expected to help. `fit` takes the
    reference, which stands for the distribution of the data; `value` takes any rows.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_ : array of shape (n_columns,)
        Coefficients of the design columns; 0 for dropped ones.
    intercept_ : float
        Predicted target where all features are 0.
    noise_var_ : float
        Estimated noise variance.
    r_squared_ : float
        Share of the target's variation that the features explain.
    n_rows_ : int
        Reference rows.
    test_rows_ : int
        `'knn'`, `'knn-shapley'`: rows that utility is measured on. These methods have
        no coefficients, noise variance or R².
    effective_rows_ : float
        Number of rows without weights that hold as much information: (Σw)²/Σw².
    p_, q_, m_ : int
        Design columns, smallest and largest set size.
    dropped_ : list of str
        Columns left out because they are constant or dependent.
    {attributes}

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

    @available_if(_can_take_more)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> RegressionValuer:
        """Add rows to the reference; the earlier rows are not needed. The first call fits.

        For `'gaussian'`, `'algorithm-3'` and bounds. m and q are those of the estimator
        now; unless given, they follow the number of rows. Other parameters must stay as
        they were for the first rows. Rows are not kept for `value_training`.

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
        if any(getattr(one, "_has_predictions", False) for one in (self, *others)):
            raise InputError("valuers with predictions of an estimator cannot be merged; fit all rows together")
        return self._merged(others)

    def _predictions_of(self, X: Any, y: Any, predictions: Any) -> NDArray[np.float64]:
        cells = np.asarray(numbers(y, "y"), dtype=np.float64)
        if predictions is None:
            if not np.isfinite(cells).all():
                raise InputError("y has cells that are missing or not finite, which no `estimator` can be fitted to")
            predictions = cross_fitted_numbers(X, cells, self.estimator, self.seed)
            self.estimator_ = regressor_fitted_to_all(X, cells, self.estimator, self.seed)
        return predicted_numbers(predictions, len(cells))

    def _predicted_by(self, estimator: Any, X: Any) -> NDArray[np.float64]:
        predicted = estimator.predict(X)
        return predicted_numbers(predicted, len(predicted))

    def _read_target(self, y: Any) -> Target:
        return Target(numbers(y, "y"))

    def _refuse_other_params(self) -> None:
        """Refuses parameters other than those that earlier rows were fitted with."""
        before = self._fitted_params
        for name, now in self.get_params(deep=False).items():
            if name not in OUTSIDE and repr(now) != repr(before[name]):
                raise InputError(
                    f"`{name}` is {now!r}, but was {before[name]!r} when the first rows were fitted; only m and q may "
                    "change in between. Fit all rows again, or set it back"
                )
