"""Predictions of an estimator for rows that it was not fitted to."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dshap._errors import InputError, InputTypeError

#: Smallest probability that an estimator may give a label.
LEAST_PROB = 1e-6

#: Folds of a cross-fit.
FOLDS = 5


def cross_fitted(X: Any, codes: NDArray[np.float64], estimator: Any, seed: int) -> NDArray[np.float64] | None:
    """Probabilities of each class for each row, from folds without it.

    `estimator` is a classifier with `predict_proba`, or `'boosting'`, which gives None where features are not numbers.
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    classifier = _classifier(estimator, seed)
    if isinstance(estimator, str):
        numbers = _numbers(X)
        if numbers is None:
            return None
        X = numbers
    labels = codes.astype(np.int64)
    n_classes = int(labels.max()) + 1
    n_folds = min(FOLDS, len(labels))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed % 2**32)
    probs = np.zeros((len(labels), n_classes))
    with warnings.catch_warnings():
        # A class may have fewer rows than there are folds; its rows then count as unlikely where it is unknown.
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        splits = list(folds.split(np.zeros(len(labels)), labels))
    for train, held_out in splits:
        fitted = clone(classifier).fit(_rows(X, train), labels[train])
        probs[np.ix_(held_out, fitted.classes_)] = fitted.predict_proba(_rows(X, held_out))
    return probs


def cross_fitted_numbers(X: Any, y: NDArray[np.float64], estimator: Any, seed: int) -> NDArray[np.float64]:
    """Predicted targets, from folds without the row."""
    from sklearn.base import clone
    from sklearn.model_selection import KFold

    regressor = _regressor(estimator, seed)
    folds = KFold(min(FOLDS, len(y)), shuffle=True, random_state=seed % 2**32)
    predicted = np.zeros(len(y))
    for train, held_out in folds.split(y):
        fitted = clone(regressor).fit(_rows(X, train), y[train])
        predicted[held_out] = _column(fitted.predict(_rows(X, held_out)), len(held_out))
    return predicted


def _column(given: Any, n_rows: int) -> NDArray[np.float64]:
    cells = np.asarray(given, dtype=np.float64)
    if cells.shape == (n_rows, 1):
        cells = cells[:, 0]
    if cells.shape != (n_rows,):
        raise InputError(f"predictions have the shape {cells.shape}; expected {(n_rows,)}")
    return cells


def predicted_numbers(given: Any, n_rows: int) -> NDArray[np.float64]:
    """Predictions as the one column of a model."""
    cells = _column(given, n_rows)
    if not np.isfinite(cells).all():
        raise InputError("`predictions` has cells that are missing or not finite")
    return np.ascontiguousarray(cells[:, None])


def _rows(X: Any, rows: NDArray[np.int64]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _classifier(estimator: Any, seed: int) -> Any:
    """The estimator, or gradient boosting."""
    if isinstance(estimator, str):
        from sklearn.ensemble import HistGradientBoostingClassifier

        if estimator != "boosting":
            raise InputTypeError(f"`estimator` is {estimator!r}; expected a classifier, 'boosting' or None")
        return HistGradientBoostingClassifier(random_state=seed % 2**32)
    if not hasattr(estimator, "predict_proba"):
        raise InputTypeError(f"`estimator` is a {type(estimator).__name__} without `predict_proba`")
    return estimator


def _regressor(estimator: Any, seed: int) -> Any:
    """The estimator, or gradient boosting."""
    from sklearn.base import is_regressor

    if isinstance(estimator, str):
        from sklearn.ensemble import HistGradientBoostingRegressor

        if estimator != "boosting":
            raise InputTypeError(f"`estimator` is {estimator!r}; expected a regressor, 'boosting' or None")
        return HistGradientBoostingRegressor(random_state=seed % 2**32)
    if not hasattr(estimator, "predict") or not is_regressor(estimator):
        raise InputTypeError(f"`estimator` is a {type(estimator).__name__}; expected a regressor")
    return estimator


def _numbers(X: Any) -> NDArray[np.float64] | None:
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def fitted_to_all(X: Any, codes: NDArray[np.int64], estimator: Any, seed: int) -> Any:
    """The estimator fitted to all rows."""
    from sklearn.base import clone

    return clone(_classifier(estimator, seed)).fit(X, codes)


def regressor_fitted_to_all(X: Any, y: NDArray[np.float64], estimator: Any, seed: int) -> Any:
    """The same for numbers."""
    from sklearn.base import clone

    return clone(_regressor(estimator, seed)).fit(X, y)


def probabilities(given: Any, n_rows: int, n_classes: int) -> NDArray[np.float64]:
    """Probabilities of all classes, none of them 0."""
    probs = np.asarray(given, dtype=np.float64)
    if probs.ndim == 1 and n_classes == 2:
        probs = np.column_stack([1 - probs, probs])
    if probs.shape != (n_rows, n_classes):
        raise InputError(f"`predictions` has the shape {probs.shape}; expected {(n_rows, n_classes)}")
    if not np.isfinite(probs).all() or (probs < 0).any():
        raise InputError("`predictions` has cells that are no probabilities")
    probs = np.clip(probs, LEAST_PROB, None)
    return probs / probs.sum(axis=1, keepdims=True)


def log_odds(given: Any, n_rows: int, n_classes: int) -> NDArray[np.float64]:
    """Log-odds of each class against the first."""
    logs = np.log(probabilities(given, n_rows, n_classes))
    return np.ascontiguousarray(logs[:, 1:] - logs[:, :1])
