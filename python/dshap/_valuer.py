"""`RegressionValuer`: rows valued for linear regression, as a scikit-learn estimator."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from dshap import _inputs
from dshap._dshap import Table, Valuer
from dshap._errors import DshapError, DshapWarning, InputError
from dshap._progress import Bar
from dshap._values import Values, frame_like

__all__ = ["RegressionValuer"]


def _can_take_more(estimator: RegressionValuer) -> bool:
    if estimator.method in ("calibrated", "general"):
        raise AttributeError(
            f"a valuer by method='{estimator.method}' cannot take further rows, since it depends on the rows it was "
            "fitted to; fit the whole reference anew, or use method='gaussian'"
        )
    return True


class RegressionValuer(BaseEstimator):
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
        Carlo.
    m : int, optional
        Largest set size, the row included. By default the number of reference rows.
    q : int, optional
        Smallest set whose utility counts. By default p + max(p, 10), at most m,
        at least p + 3, for p design columns.
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
        `'algorithm-3'` (1000).
    seed : int, default=0
        Seed of methods that draw.
    dependent : str, default='drop'
        Columns that are constant or depend on earlier ones: `'drop'` or `'error'`.
    categorical : list, optional
        Columns (names, or numbers for arrays) that are categories whatever they
        hold. Text and categorical columns of a frame are categories in any case.
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
        Number of threads; None and −1 are all cores. The values do not depend on it.
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
    """

    __module__ = "dshap"

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
        dependent: str = "drop",
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
        self.dependent = dependent
        self.categorical = categorical
        self.missing = missing
        self.unseen = unseen
        self.keep_training = keep_training
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RegressionValuer:
        """Fit the reference.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            NumPy, pandas, polars, pyarrow, or anything with the Arrow PyCapsule
            interface.
        y : array of shape (n_rows,)
            Targets.
        sample_weight : array of shape (n_rows,), optional
            Weights from 0 on, of which only ratios matter.

        Returns
        -------
        self

        Raises
        ------
        InputError
            For data that cannot be fitted: what, where, and what to try.
        """
        table = _inputs.table(X, y, sample_weight)
        with self._bar() as bar:
            fitted = Valuer.fit(table, self, self._categorical(table), self.n_jobs, bar)
        names = _inputs.names_of(X)
        if names is None and _inputs.is_unknown(X):
            names = table.names
        self._adopt(fitted, names)
        if self.keep_training:
            self._training = (table, _index_of(X), type(X), (X, y, sample_weight))
        self._warn(fitted.warnings)
        return self

    @available_if(_can_take_more)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> RegressionValuer:
        """Add rows to the reference without the rows before; the first call fits.

        For `'gaussian'`, `'algorithm-3'` and bounds. m and q follow the number of
        rows unless they were given. Rows are not kept for `value_training`.

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
        table = self._table(X, y, sample_weight)
        with self._bar() as bar:
            fitted = self._fitted.updated(table, self.n_jobs, bar)
        self.__dict__.pop("_training", None)
        self._adopt(fitted, self._names())
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
        self._check()
        parts = [self._fitted]
        for other in others:
            if not isinstance(other, RegressionValuer):
                raise InputError(f"a {type(other).__name__} cannot be merged with a RegressionValuer")
            other._check()
            parts.append(other._fitted)
        fitted = parts[0].merged(parts[1:])
        whole = type(self)(**self.get_params(deep=False))
        whole._adopt(fitted, self._names())
        whole._warn(fitted.warnings)
        return whole

    def value(
        self, X: Any, y: Any, *, m: int | None = None, q: int | None = None, as_frame: bool = False
    ) -> NDArray[np.float64] | Any:
        """Value rows, seen or unseen, against the reference.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            With the columns of the reference.
        y : array of shape (n_rows,)
            Their targets.
        m, q : int, optional
            Other set sizes than those of the fit.
        as_frame : bool, default=False
            Return a frame of the kind of X, with what explains the values.

        Returns
        -------
        array of shape (n_rows,) or frame
            In the order of the rows; NaN where a row has no value.

        Examples
        --------
        >>> from dshap import RegressionValuer
        >>> from dshap.datasets import gaussian_r
        >>> X, y = gaussian_r(300, 4, seed=0)
        >>> valuer = RegressionValuer().fit(X[:200], y[:200])
        >>> bool((valuer.value(X[200:], y[200:]) > 0).mean() > 0.8)
        True
        """
        own = self.__dict__
        if (
            type(X) is np.ndarray
            and type(y) is np.ndarray
            and "_fitted" in own
            and "feature_names_in_" not in own
            and not (as_frame or self.progress or m is not None or q is not None)
        ):
            # Nothing to be said and nothing to be converted: no table is made.
            values = own["_fitted"].value_arrays(X, y, self.n_jobs)
            if values is not None:
                return values
        found = self._explain(X, y, m=m, q=q, parts=as_frame)
        return frame_like(found, X) if as_frame else found.value

    def explain(
        self, X: Any, y: Any, *, m: int | None = None, q: int | None = None, std_error: bool = False
    ) -> Values:
        """Value rows, with what explains the values.

        Parameters
        ----------
        X, y, m, q
            As for `value`.
        std_error : bool, default=False
            Whether standard errors are wanted as well.

        Returns
        -------
        Values
            Values, potential and penalty (value = potential − penalty), squared
            distance and residual, notes.
        """
        return self._explain(X, y, m=m, q=q, std_error=std_error)

    def standard_errors(self, X: Any, y: Any, *, m: int | None = None, q: int | None = None) -> NDArray[np.float64]:
        """Standard errors of the values of rows.

        They say what the reference being a sample costs; for `'general'` they are
        those of the draws.

        Parameters
        ----------
        X, y, m, q
            As for `value`.

        Returns
        -------
        array of shape (n_rows,)
        """
        errors = self._explain(X, y, m=m, q=q, std_error=True, parts=False).stderr
        assert errors is not None, "the engine refuses methods without standard errors"
        return errors

    def value_training(self, *, as_frame: bool = False) -> NDArray[np.float64] | Any:
        """Value the rows given to `fit`, each against the others (leave-one-out).

        Parameters
        ----------
        as_frame : bool, default=False
            Return a frame of the kind that was fitted, with what explains the values.

        Returns
        -------
        array of shape (n_rows,) or frame
            In the order of the rows; NaN where a row has no value.
        """
        found = self._explain_training(parts=as_frame)
        return frame_like(found, self._training[3][0]) if as_frame else found.value

    def explain_training(self, *, std_error: bool = False) -> Values:
        """Value the rows given to `fit`, each against the others, with explanations.

        Parameters
        ----------
        std_error : bool, default=False
            Whether standard errors are wanted as well.

        Returns
        -------
        Values
        """
        return self._explain_training(std_error=std_error)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted valuer; the file is that of `dshap fit`.

        Parameters
        ----------
        path : path
            Such as `price.dshap`. The file appears whole or not at all.
        """
        self._check()
        self._fitted.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RegressionValuer:
        """Load a valuer that was saved, here or by `dshap fit`.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        RegressionValuer
            Fitted, with the parameters of the file.
        """
        fitted = Valuer.load(os.fspath(path))
        valuer = cls(**fitted.params())
        names = fitted.facts()["features"]
        # Columns of arrays are numbered; such names are none.
        numbered = names == [f"column_{j}" for j in range(len(names))]
        valuer._adopt(fitted, None if numbered else names)
        return valuer

    def _explain(
        self,
        X: Any,
        y: Any,
        *,
        m: int | None = None,
        q: int | None = None,
        std_error: bool = False,
        parts: bool = True,
    ) -> Values:
        self._check()
        table = self._table(X, y)
        with self._bar() as bar:
            found = self._fitted.value_table(table, m, q, False, std_error, parts, self.n_jobs, bar)
        self._warn(found.pop("warnings"))
        return Values._of(found, index=_index_of(X))

    def _explain_training(self, *, std_error: bool = False, parts: bool = True) -> Values:
        self._check()
        if "_training" not in self.__dict__:
            raise DshapError(
                "the rows of the reference were not kept: they are with keep_training=True, after `fit`, "
                "and until the estimator is updated, merged, saved or pickled"
            )
        table, index, _, _ = self._training
        with self._bar() as bar:
            found = self._fitted.value_table(table, None, None, True, std_error, parts, self.n_jobs, bar)
        self._warn(found.pop("warnings"))
        return Values._of(found, index=index)

    def _table(self, X: Any, y: Any, weights: Any = None) -> Table:
        """A table whose columns are called as those of the reference."""
        if _inputs.is_unknown(X):
            # What hands out Arrow data and nothing else tells its names once it is read.
            table = _inputs.table(X, y, weights, target=self._target)
            _inputs.check_names(self._names(), table.names, type(self).__name__)
            return table
        names = _inputs.names_of(X)
        doubt = _inputs.check_names(self._names(), names, type(self).__name__)
        if doubt is not None:
            _warn(doubt, UserWarning)
        if names is None:
            _inputs.refuse_sparse(X)
            if not _inputs.is_frame(X):
                X = _inputs.array(X)
            n_columns = X.shape[1]
            if n_columns != self.n_features_in_:
                raise InputError(
                    f"X has {n_columns} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input"
                )
        return _inputs.table(X, y, weights, names=list(self._features), target=self._target)

    def _categorical(self, table: Table) -> list[str]:
        names = table.names
        wanted = [] if self.categorical is None else list(self.categorical)
        try:
            return [names[column] if isinstance(column, (int, np.integer)) else str(column) for column in wanted]
        except IndexError:
            raise InputError(f"`categorical` is {wanted}, and X has {len(names)} columns") from None

    def _adopt(self, fitted: Valuer, names: list[str] | None) -> None:
        facts = fitted.facts()
        self._fitted = fitted
        self.__dict__.pop("_training", None)
        self._features, self._target = facts["features"], facts["target"]
        self.n_features_in_ = len(facts["features"])
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)
        for name in ("coef", "columns", "dropped", "effective_rows", "intercept", "m", "n_rows", "noise_var", "p", "q"):
            setattr(self, name + "_", facts[name])
        self.r_squared_ = facts["r_squared"]
        self.warnings_ = fitted.warnings

    def _names(self) -> list[str] | None:
        names = self.__dict__.get("feature_names_in_")
        return None if names is None else list(names)

    def _bar(self) -> Any:
        return Bar() if self.progress else nullcontext()

    def _check(self) -> None:
        if "_fitted" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            )

    def _warn(self, said: list[str]) -> None:
        for text in said:
            _warn(text, DshapWarning)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.string = False
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # The rows stay behind, as with a valuer file.
        state.pop("_training", None)
        fitted = state.pop("_fitted", None)
        if fitted is not None:
            state["_bytes"] = fitted.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop("_bytes", None)
        super().__setstate__(state)
        if data is not None:
            self._fitted = Valuer.from_bytes(data)


def _warn(text: str, category: type[Warning]) -> None:
    """Warns of the line outside of this package that is at it."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(os.path.dirname(__file__)):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, category, stacklevel=level)


def _index_of(X: Any) -> Any:
    return X.index if _inputs.is_pandas(X) else None
