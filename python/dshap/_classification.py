"""`ClassificationValuer`: values rows for logistic regression, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import ClassifierTags

from dshap._docstrings import documented
from dshap._dshap import Valuer
from dshap._errors import InputError
from dshap._inputs import Target
from dshap._labels import classes_of, labels_of
from dshap._names import Names
from dshap._parameters import ClassificationParameters
from dshap._prediction import PredictionValuer
from dshap._prediction_folds import cross_fitted, fitted_to_all, log_odds

__all__ = ["ClassificationValuer"]


@documented
class ClassificationValuer(ClassificationParameters, PredictionValuer):
    """Values rows for logistic regression, in closed form.

    The value of a row is the expected drop in squared error when it joins a random
    set of other rows, summed over set sizes q−1 … m−1 and divided by m. The error is
    that of the weighted regression that stands in for the logistic model, with the
    coefficients and weights of the whole reference. A positive value means the row is
    expected to help. `method='second-order'` gives another value: what the row brings
    to a logistic model refitted on each set. `fit` takes the reference, which stands
    for the distribution of the data; `value` takes any rows with their labels.

    With more than two labels, each label is separated from all others, and the values are
    summed. `'second-order'` uses one softmax model for all labels under log-loss
    without a ridge, as long as it has at most 500 coefficients.

    The fit has a ridge of 1 for standardised features unless `ridge` says otherwise. Labels
    that the features separate perfectly have no fit with `ridge=0`. A
    missing label cannot be filled in, and a label that the reference does not have is
    always an error.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, as they were given. With two labels the last is the positive one.
    coef_ : array of shape (1, n_columns) or (n_classes, n_columns)
        Coefficients of the design columns, 0 for dropped ones: for the positive label,
        or for each label against the others. A softmax model has those of each label
        against the first, whose own are 0.
    intercept_ : array of shape (1,) or (n_classes,)
        The log-odds where all features are 0; for a softmax model, against the first
        label.
    deviance_ : float
        −2 times the log-likelihood of the reference, summed over fits.
    label_rows_ : array of shape (n_classes,)
        Reference rows with each label.
    n_iter_ : int
        Passes over the reference that the fit took.
    n_rows_ : int
        Reference rows.
    test_rows_ : int
        `'knn'`, `'knn-shapley'`: rows that utility is measured on. These methods have
        no coefficients, deviance or passes.
    effective_rows_ : float
        Number of rows without weights that hold as much information: (Σw)²/Σw².
    p_, q_, m_ : int
        Design columns including the intercept, smallest and largest set size.
    dropped_ : list of str
        Columns left out because they are constant or dependent.
    {attributes}

    Examples
    --------
    >>> from dshap import ClassificationValuer
    >>> from dshap.datasets import gaussian_c
    >>> X, y = gaussian_c(500, seed=1)
    >>> wrong = abs(X[:, 0]).argmax()                # a clear case
    >>> y[wrong] = X[wrong, 0] < 0                   # with the other label
    >>> valuer = ClassificationValuer().fit(X, y)
    >>> valuer.classes_.tolist(), valuer.coef_.shape
    ([0, 1], (1, 3))
    >>> bool(valuer.value_training().argmin() == wrong)
    True
    """

    __module__ = "dshap"

    _TASK: ClassVar[str] = "classification"
    _LEARNED: ClassVar[tuple[str, ...]] = (
        "coef",
        "columns",
        "deviance",
        "dropped",
        "effective_rows",
        "intercept",
        "label_rows",
        "m",
        "n_iter",
        "n_rows",
        "p",
        "q",
        "test_rows",
    )

    def _predictions_of(self, X: Any, y: Any, predictions: Any) -> NDArray[np.float64]:
        cells = labels_of(y).cells
        classes, codes = np.unique(cells, return_inverse=True)
        if predictions is None:
            predictions = cross_fitted(X, codes.astype(np.float64), self.estimator, self.seed)
            if predictions is None:
                raise InputError("boosting takes numbers only; give an `estimator` that reads these features")
            self.estimator_ = fitted_to_all(X, codes, self.estimator, self.seed)
        return log_odds(predictions, len(codes), len(classes))

    def _predicted_by(self, estimator: Any, X: Any) -> NDArray[np.float64]:
        probs = estimator.predict_proba(X)
        return log_odds(probs, len(probs), len(self.classes_))

    def _read_target(self, y: Any) -> Target:
        return labels_of(y)

    def _adopt(self, fitted: Valuer, names: Names | None, target: Target | None = None) -> None:
        super()._adopt(fitted, names, target)
        kind, stored = fitted.facts()["labels"]
        self.classes_ = classes_of(kind, stored, target)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.one_d_labels = True
        tags.classifier_tags = ClassifierTags(multi_class=True)
        return tags
