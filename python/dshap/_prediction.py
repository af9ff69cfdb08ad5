"""What valuers of rows with targets share: rows go in with their targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dshap._base import BaseValuer
from dshap._catalogue import is_theorem_2
from dshap._errors import DshapError, InputError
from dshap._inputs import Target
from dshap._values import Values


class PredictionValuer(BaseValuer):
    """Fits a reference of rows with targets and values rows with theirs against it."""

    # Parameters of every subclass.
    estimator: Any
    q: int | None
    seed: int

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        test: Any = None,
        population: Any = None,
        predictions: Any = None,
    ) -> Self:
        """Fit the reference.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            NumPy, pandas, polars, pyarrow, or anything with the Arrow PyCapsule
            interface.
        y : array of shape (n_rows,)
            Targets: numbers for regression, labels for classification.
        sample_weight : array of shape (n_rows,), optional
            Weights, non-negative; only ratios matter.
        test : pair (X_test, y_test), optional
            Rows that the model will predict. With `'gaussian'` and `'calibrated'`, values are
            for them; by default, for rows like the reference. With `'knn'` and
            `'knn-shapley'`, the nearest rows predict them; by default, each reference row
            is predicted by the others, and `samples` limits their number.
        population : array or frame, optional
            Inputs that the model will predict, without targets, instead of `test`. For
            `'gaussian'` and `'calibrated'`.
        predictions : array, optional
            What any model that was not fitted to the row predicts: numbers of shape (n_rows,), or probabilities of the
            labels in sorted order, of shape (n_rows, n_classes); with two labels also those of the last one alone. Rows
            are then valued for a linear model of these numbers, or a logistic one of their log-odds, and X is not used.
            `value` of other rows needs `estimator`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            For data that cannot be fitted; the message says what, where and what to try.
        """
        self.__dict__.pop("estimator_", None)
        self._has_predictions = predictions is not None or self.estimator is not None
        if not self._has_predictions:
            return self._fit(X, y, sample_weight, test, population)
        if test is not None or population is not None:
            raise InputError("`test` and `population` do not go with predictions of an estimator")
        return self._fit(self._predictions_of(X, y, predictions), y, sample_weight)

    def teach(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Value the fitted rows for each of some predictions alone.

        Each case is fitted as the only row that values are for.

        Parameters
        ----------
        X : array of shape (n_cases, n_features)
            The cases, with the features of the reference.
        y : array of shape (n_cases,), optional
            Their targets. Without them, rows are valued as if the model is right there.

        Returns
        -------
        array of shape (n_cases, n_rows)
            The leave-one-out value of each fitted row for each case.
        """
        self._check()
        if "_training" not in self.__dict__:
            raise DshapError(
                "the rows of the reference were not kept: `fit` keeps them with keep_training=True, until "
                "`partial_fit`; a merged, loaded or unpickled estimator has none"
            )
        _, _, (rows, targets, weights) = self._training
        cases = X[:] if hasattr(X, "iloc") else np.asarray(X)
        taught = []
        for i in range(len(cases)):
            case = cases.iloc[i : i + 1] if hasattr(cases, "iloc") else cases[i : i + 1]
            told: dict[str, Any] = {"population": case} if y is None else {"test": (case, np.asarray(y)[i : i + 1])}
            alone = type(self)(**self.get_params(deep=False)).fit(rows, targets, weights, **told)
            taught.append(alone._explain_training(parts=False).value)
        return np.asarray(taught)

    def value(
        self, X: Any, y: Any = None, *, m: int | None = None, q: int | None = None, as_frame: bool = False
    ) -> NDArray[np.float64] | Any:
        """Value rows, seen or unseen, against the reference.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            With the columns of the reference.
        y : array of shape (n_rows,), optional
            Their targets. Without them, `'gaussian'` and `'calibrated'` value rows as
            expected: with noise like that of the reference.
        m, q : int, optional
            Set sizes instead of those of the fit.
        as_frame : bool, default=False
            Return a frame of the kind of X, with the parts of the values.

        Returns
        -------
        array of shape (n_rows,) or frame
            In row order; NaN where a row has no value.
        """
        X = self._seen(X)
        own = self.__dict__
        if (
            type(X) is np.ndarray
            and type(y) is np.ndarray
            and "_fitted" in own
            and "feature_names_in_" not in own
            and not (as_frame or self.progress or m is not None or q is not None)
        ):
            # Nothing to check or convert: no table is made.
            values = own["_fitted"].value_arrays(X, y, self._threads())
            if values is not None:
                return values
        return self._value(X, y, m=m, q=q, as_frame=as_frame)

    def explain(
        self,
        X: Any,
        y: Any = None,
        *,
        m: int | Sequence[int] | None = None,
        q: int | None = None,
        std_error: bool = False,
    ) -> Values:
        """Value rows, with the parts of the values.

        Parameters
        ----------
        X, y, q
            As for `value`.
        m : int or list of int, optional
            As for `value`; with several sizes, `value` is that of the first and `at_m` has all.
        std_error : bool, default=False
            Whether to add standard errors.

        Returns
        -------
        Values
            Values with potential and penalty (value = potential − penalty, for
            `'second-order'` plus correction), the quantities they follow from, and notes.
        """
        return self._explain(self._seen(X), y, m=m, q=q, std_error=std_error)

    def standard_errors(self, X: Any, y: Any, *, m: int | None = None, q: int | None = None) -> NDArray[np.float64]:
        """Standard errors of the values of rows.

        They measure the error from the reference being a sample; for `'general'` the
        error of the draws, for `'knn'` the error from the test rows being a sample.

        Parameters
        ----------
        X, y, m, q
            As for `value`.

        Returns
        -------
        array of shape (n_rows,)
        """
        return self._standard_errors(self._seen(X), y, m=m, q=q)

    def _seen(self, X: Any) -> Any:
        """Rows as the model sees them: predictions of the estimator, if there is one."""
        if not self.__dict__.get("_has_predictions", False):
            return X
        estimator = self.__dict__.get("estimator_")
        if estimator is None:
            raise InputError("`fit` had predictions of its rows only; give an `estimator` to value other rows")
        return self._predicted_by(estimator, X)

    def _predictions_of(self, X: Any, y: Any, predictions: Any) -> NDArray[np.float64]:
        """Predictions of rows that are fitted: as given, or of folds; then the estimator is fitted to all rows."""
        raise NotImplementedError

    def _predicted_by(self, estimator: Any, X: Any) -> NDArray[np.float64]:
        """The same of other rows."""
        raise NotImplementedError

    def _expects_targets(self) -> bool:
        return is_theorem_2(self._fitted.params()["method"])

    def _target_of(self, y: Any) -> Target:
        if y is None:
            raise InputError(
                "a valuer requires y to be passed, but the target y is None: rows are valued with their targets"
            )
        return self._read_target(y)

    def _read_target(self, y: Any) -> Target:
        """y as the task needs it."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
