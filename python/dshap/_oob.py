"""Data-OOB: what trees that did not see a row say about its target."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from dshap._errors import InputError, InputTypeError
from dshap._inputs import column_of
from dshap._kinds import is_pandas
from dshap._values import Values

#: The note of a row that every model of the ensemble was fitted to.
NEVER_OUT = "never out of bag"


def data_oob(model: Any, X: Any, y: Any) -> Values:
    """Data-OOB (Kwon and Zou 2023): how well models that did not see a row predict its target.

    The value of a row is the mean over the models that were fitted without it: 1 for the right label and 0 for a wrong
    one, or minus the squared error. It is exact from a fitted ensemble: nothing is fitted again.

    Parameters
    ----------
    model : fitted ensemble
        `RandomForestClassifier`, `RandomForestRegressor`, `ExtraTrees…` with `bootstrap=True`, `BaggingClassifier` or
        `BaggingRegressor`.
    X : array or frame of shape (n_rows, n_features)
        The rows that the model was fitted to, in the same order.
    y : array of shape (n_rows,)
        Their targets. Labels may differ from those that were fitted.

    Returns
    -------
    Values
        With the standard error over models. A row that every model was fitted to has no value, and a note.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from dshap import baselines
    >>> from dshap.datasets import gaussian_c
    >>> X, y = gaussian_c(200, seed=3)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> values = baselines.data_oob(forest, X, y)
    >>> bool(values.value.min() >= 0), bool(values.value.max() <= 1)
    (True, True)
    """
    if not hasattr(model, "estimators_") or not hasattr(type(model), "estimators_samples_"):
        raise InputTypeError(
            f"a {type(model).__name__} has no out-of-bag rows; expected a fitted random forest or a bagging ensemble"
        )
    if not getattr(model, "bootstrap", False) and getattr(model, "max_samples", None) in (None, 1.0):
        raise InputError(f"the {type(model).__name__} has bootstrap=False, so every model saw every row; refit it with bootstrap=True")
    targets = column_of(y, "y", as_objects=True)
    cells = np.asarray(X)
    n_rows = len(cells)
    if len(targets) != n_rows:
        raise InputError(f"X has {n_rows} rows, but y has {len(targets)}")
    known = getattr(model, "_n_samples", n_rows)
    if known != n_rows:
        raise InputError(f"X has {n_rows} rows, but the model was fitted to {known}; give the rows of its fit, in order")
    columns = getattr(model, "estimators_features_", [slice(None)] * len(model.estimators_))
    labels = is_classifier(model)
    count, total, squares = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    for one, seen, features in zip(model.estimators_, model.estimators_samples_, columns):
        out = np.ones(n_rows, dtype=bool)
        out[seen] = False
        if not out.any():
            continue
        predicted = one.predict(cells[out][:, features])
        if labels:
            # Members of an ensemble know classes by their numbers.
            score = (model.classes_[np.asarray(predicted).astype(np.int64)] == targets[out]).astype(np.float64)
        else:
            score = -((targets[out].astype(np.float64) - predicted) ** 2)
        count[out] += 1
        total[out] += score
        squares[out] += score**2
    with np.errstate(invalid="ignore", divide="ignore"):
        value = total / count
        spread = np.clip(squares / count - value**2, 0, None) * count / (count - 1)
        stderr = np.sqrt(spread / count)
    notes = [(int(row), NEVER_OUT) for row in np.flatnonzero(count == 0)]
    return Values._of({"value": value, "stderr": stderr, "notes": notes}, index=X.index if is_pandas(X) else None)
