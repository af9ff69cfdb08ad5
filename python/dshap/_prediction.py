"""What valuers of rows with targets share: rows go in with their targets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dshap._base import BaseValuer
from dshap._errors import InputError
from dshap._inputs import Target
from dshap._values import Values


class PredictionValuer(BaseValuer):
    """Fits a reference of rows with targets and values rows with theirs against it."""

    # A parameter of every subclass.
    q: int | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, test: Any = None) -> Self:
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
            Rows that the nearest rows predict, for `'knn'` and `'knn-shapley'`. By
            default each reference row is predicted by the others; `samples` limits
            their number.

        Returns
        -------
        self

        Raises
        ------
        InputError
            For data that cannot be fitted; the message says what, where and what to try.
        """
        return self._fit(X, y, sample_weight, test)

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
            Set sizes instead of those of the fit.
        as_frame : bool, default=False
            Return a frame of the kind of X, with the parts of the values.

        Returns
        -------
        array of shape (n_rows,) or frame
            In row order; NaN where a row has no value.
        """
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
        self, X: Any, y: Any, *, m: int | None = None, q: int | None = None, std_error: bool = False
    ) -> Values:
        """Value rows, with the parts of the values.

        Parameters
        ----------
        X, y, m, q
            As for `value`.
        std_error : bool, default=False
            Whether to add standard errors.

        Returns
        -------
        Values
            Values with potential and penalty (value = potential − penalty, for
            `'second-order'` plus correction), the quantities they follow from, and notes.
        """
        return self._explain(X, y, m=m, q=q, std_error=std_error)

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
        return self._standard_errors(X, y, m=m, q=q)

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
