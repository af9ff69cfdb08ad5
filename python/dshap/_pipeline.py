"""`from_pipeline`: values rows for a model that was already fitted elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier

from dshap import _checks
from dshap._catalogue import is_of_neighbours
from dshap._classification import ClassificationValuer
from dshap._errors import DshapWarning, InputError, InputTypeError, NotFittedError
from dshap._leaves import LeafSpace, has_leaves
from dshap._prediction import PredictionValuer
from dshap._regression import RegressionValuer
from dshap._values import Values
from dshap._warn import warn

__all__ = ["PipelineValuer", "from_pipeline"]

#: Rows whose predictions are compared with those of the model.
COMPARED = 2_000

SUPPORTED = (
    "LinearRegression, Ridge, RidgeCV, LogisticRegression, LogisticRegressionCV, KNeighborsClassifier, KNeighborsRegressor, decision trees, "
    "random forests, extra trees, gradient boosting, XGBoost and LightGBM"
)


def from_pipeline(
    model: Any,
    *,
    method: str | None = None,
    head: str = "neighbours",
    components: int | None = 32,
    **params: Any,
) -> PipelineValuer:
    """Value rows for a fitted scikit-learn model, or a pipeline that ends with one.

    The earlier steps transform rows as they did for the model. What follows depends on the last step:

    =====================================  ====================================================================
    `LinearRegression`                     `RegressionValuer(refit_intercept=fit_intercept)`
    `Ridge`, `RidgeCV`                     `RegressionValuer('general', ridge=alpha)`; no penalty on the intercept
    `LogisticRegression`, `…CV`            `ClassificationValuer(ridge=1 / C)`, or `ridge=0` without a penalty
    `KNeighborsClassifier`, `…Regressor`   the valuer `'knn'`, with its number of neighbours and its metric
    trees, forests, boosting               nearest neighbours or a linear model in the space of leaves
    =====================================  ====================================================================

    With three labels or more, scikit-learn fits one multinomial model, while `ClassificationValuer` separates each label
    from the rest; a warning says so. `method='second-order', ridge=0` values rows for one softmax model, without the
    penalty.

    Trees, forests and boosting have no values of their own. Rows are valued for a stand-in: a model of the leaves that
    rows fall into. `agreement_` says how often it predicts what the real model predicts.

    Parameters
    ----------
    model : fitted estimator, pipeline or search
        A search (`GridSearchCV`) stands for its best estimator.
    method : str, optional
        Another method of the valuer, such as `'second-order'` for logistic regression.
    head : 'neighbours' or 'linear', default='neighbours'
        For trees: whether the nearest rows in leaf space predict, or a linear or logistic model of leaves.
    components : int or None, default=32
        For trees: number of principal directions of leaf indicators. None: the indicators themselves, as many columns
        as there are leaves.
    **params
        Further parameters of the valuer, such as `m`, `q`, `k`, `n_jobs` or `seed`.

    Returns
    -------
    PipelineValuer
        Not fitted: call `fit` with the reference, usually the rows that the model was fitted to.

    Raises
    ------
    InputError
        If the model is not fitted, or its options have no values.
    InputTypeError
        If the model is of another kind.

    Examples
    --------
    >>> import dshap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = dshap.datasets.gaussian_c(300, seed=1)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression(C=0.5)).fit(X, y)
    >>> valuer = dshap.from_pipeline(model).fit(X, y)
    >>> valuer.valuer_.ridge, valuer.agreement_
    (2.0, 1.0)
    >>> valuer.value_training().shape
    (300,)
    """
    return PipelineValuer(model, method=method, head=head, components=components, params=params)


class PipelineParameters:
    """The parameters of `PipelineValuer`. Tools that read docstrings look for a constructor in the module of its class."""

    def __init__(
        self,
        model: Any,
        *,
        method: str | None = None,
        head: str = "neighbours",
        components: int | None = 32,
        params: dict[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.method = method
        self.head = head
        self.components = components
        self.params = params
        self._plan()

    def _plan(self) -> Any:
        """Looks at the model, and refuses one that has no values."""
        raise NotImplementedError


class PipelineValuer(PipelineParameters, BaseEstimator):
    """Values rows for a model that was already fitted; made by `from_pipeline`.

    Parameters
    ----------
    model : fitted estimator or pipeline
        The model.
    method, head, components
        As for `from_pipeline`.
    params : dict, optional
        Further parameters of the valuer.

    Attributes
    ----------
    valuer_ : RegressionValuer or ClassificationValuer
        The valuer of the transformed rows, fitted.
    agreement_ : float
        How well the model that rows are valued for predicts what the given model predicts, for the rows of `fit` (2000 of
        them at most). Labels: the share of equal predictions. Numbers: the squared correlation. Neighbours do not count
        the row itself.
    """

    __module__ = "dshap"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, test: Any = None) -> Self:
        """Fit the reference: rows as the pipeline takes them. The model itself stays as it is.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_features)
            Rows before the first step of the pipeline.
        y : array of shape (n_rows,)
            Their targets.
        sample_weight : array of shape (n_rows,), optional
            Weights, non-negative; only ratios matter.
        test : pair (X_test, y_test), optional
            Rows that the model will predict, as for the valuers.

        Returns
        -------
        self
        """
        steps, last, valuer, leaves = self._plan()
        self._steps, self._leaves = steps, leaves
        rows = self._stepped(X)
        if leaves is not None:
            rows = leaves.fit(rows)
        if test is not None:
            test = (self.transform(test[0]), test[1])
        doubt = _of_several_labels(last, valuer)
        if doubt is not None:
            warn(doubt, DshapWarning)
        valuer.fit(rows, y, sample_weight, test=test)
        self.valuer_ = valuer
        self.agreement_ = self._agreement(X, rows, y)
        return self

    def transform(self, X: Any) -> Any:
        """Rows as the valuer sees them: after the earlier steps, and in leaf space if the model has trees."""
        if "_steps" not in self.__dict__:
            raise NotFittedError("This PipelineValuer instance is not fitted yet. Call 'fit' with the reference first.")
        rows = self._stepped(X)
        return rows if self._leaves is None else self._leaves.transform(rows)

    def value(
        self, X: Any, y: Any = None, *, m: int | None = None, q: int | None = None
    ) -> NDArray[np.float64]:
        """Value rows, seen or unseen, against the reference.

        Parameters
        ----------
        X, y, m, q
            As for `RegressionValuer.value`; X as the pipeline takes it.

        Returns
        -------
        array of shape (n_rows,)
        """
        rows = self.transform(X)
        return np.asarray(self.valuer_.value(rows, y, m=m, q=q))

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
        X, y, m, q, std_error
            As for `RegressionValuer.explain`; X as the pipeline takes it.

        Returns
        -------
        Values
        """
        rows = self.transform(X)
        return self.valuer_.explain(rows, y, m=m, q=q, std_error=std_error)

    def standard_errors(self, X: Any, y: Any, *, m: int | None = None, q: int | None = None) -> NDArray[np.float64]:
        """Standard errors of the values of rows.

        Parameters
        ----------
        X, y, m, q
            As for `value`.

        Returns
        -------
        array of shape (n_rows,)
        """
        rows = self.transform(X)
        return self.valuer_.standard_errors(rows, y, m=m, q=q)

    def value_training(self) -> NDArray[np.float64]:
        """Value the rows given to `fit`, each against the others.

        Returns
        -------
        array of shape (n_rows,)
        """
        self._check()
        return np.asarray(self.valuer_.value_training())

    def explain_training(self, *, std_error: bool = False) -> Values:
        """Value the rows given to `fit`, each against the others, with the parts of the values.

        Parameters
        ----------
        std_error : bool, default=False
            Whether to add standard errors.

        Returns
        -------
        Values
        """
        self._check()
        return self.valuer_.explain_training(std_error=std_error)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        _, last, valuer, leaves = self._plan()
        text = f"{type(last).__name__}, valued by {valuer!r}"
        if leaves is not None:
            text += " in leaf space"
            fitted = self.__dict__.get("_leaves")
            if fitted is not None:
                text += f" ({fitted.n_trees} trees, {fitted.n_leaves} leaves)"
        if "agreement_" not in self.__dict__:
            return f"<PipelineValuer: {text}, not fitted>"
        what = "labels agree" if is_classifier(last) else "of the variation agrees"
        return f"<PipelineValuer: {text}; {100 * self.agreement_:.1f} % {what} with the model>"

    def __sklearn_is_fitted__(self) -> bool:
        return "valuer_" in self.__dict__

    def _check(self) -> None:
        if "valuer_" not in self.__dict__:
            raise NotFittedError("This PipelineValuer instance is not fitted yet. Call 'fit' with the reference first.")

    def _stepped(self, X: Any) -> Any:
        """Rows after the earlier steps."""
        rows = X if self._steps is None else self._steps.transform(X)
        return rows.toarray() if hasattr(rows, "toarray") else rows

    def _plan(self) -> tuple[Any, Any, PredictionValuer, LeafSpace | None]:
        """The earlier steps, the last one, the valuer that stands for it, and the leaf space of trees."""
        steps, last = _parted(self.model)
        given = {} if self.method is None else {"method": self.method}
        given |= self.params or {}
        if self.head not in ("neighbours", "linear"):
            raise InputError(f"`head` is {self.head!r}; expected 'neighbours' or 'linear'")
        components = None if self.components is None else _checks.whole("components", self.components, 1, 10**6)
        if has_leaves(last):
            seed = _checks.whole("seed", given.get("seed", 0), 0, 2**64 - 1)
            return steps, last, self._of_leaves(last, given), LeafSpace(last, components, seed)
        reader = MODELS.get(type(last).__name__) if type(last).__module__.startswith("sklearn.") else None
        if reader is None:
            raise InputTypeError(f"there is no value for a {type(last).__name__}; from_pipeline takes {SUPPORTED}" + _advice(last))
        return steps, last, reader(last, given), None

    def _of_leaves(self, last: Any, given: dict[str, Any]) -> PredictionValuer:
        kind = ClassificationValuer if is_classifier(last) else RegressionValuer
        if self.head == "neighbours":
            # Distances in leaf space have a meaning of their own.
            return kind(**{"method": "knn", "scale": "none", **given})
        usual: dict[str, Any] = {} if is_classifier(last) else {"refit_intercept": True}
        return kind(**{**usual, **given})

    def _agreement(self, X: Any, rows: Any, y: Any) -> float:
        """How well the stand-in predicts what the model predicts."""
        cells = np.asarray(rows, dtype=np.float64)
        some = np.arange(len(cells))
        if len(cells) > COMPARED:
            some = np.random.default_rng(0).permutation(len(cells))[:COMPARED]
            some.sort()
        real = np.asarray(self.model.predict(_taken(X, some)))
        valuer: Any = self.valuer_
        labels = isinstance(valuer, ClassificationValuer)
        if is_of_neighbours(valuer.method):
            ours = _by_neighbours(valuer, cells, np.asarray(y), some, labels)
        else:
            coef, intercept = np.asarray(valuer.coef_), valuer.intercept_
            if not labels and valuer.ridge > 0:
                coef, intercept = _ridge_fit(cells, np.asarray(y, dtype=np.float64), valuer.ridge, valuer.intercept)
            scores = cells[some] @ coef.T + intercept
            if labels:
                scores = np.atleast_2d(scores)
                found = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
                ours = valuer.classes_[found]
            else:
                ours = scores
        if labels:
            return float(np.mean(ours == real))
        if np.ptp(ours) == 0 or np.ptp(real) == 0:
            return float(np.allclose(ours, real))
        return float(np.corrcoef(ours, real)[0, 1] ** 2)


def _ridge_fit(
    cells: NDArray[np.float64], y: NDArray[np.float64], ridge: float, free: bool
) -> tuple[NDArray[np.float64], float]:
    """The coefficients of all rows; the valuer itself keeps those without a ridge, and refits sets with it."""
    middle, level = (cells.mean(axis=0), float(y.mean())) if free else (np.zeros(cells.shape[1]), 0.0)
    centred = cells - middle
    coef: Any = np.linalg.solve(centred.T @ centred + ridge * np.eye(cells.shape[1]), centred.T @ (y - level))
    return coef, level - float(middle @ coef)


def _by_neighbours(
    valuer: Any, cells: NDArray[np.float64], y: NDArray[Any], some: NDArray[np.int64], labels: bool
) -> NDArray[Any]:
    """What the k nearest other rows predict."""
    from sklearn.neighbors import NearestNeighbors

    if valuer.scale == "std":
        cells = cells / np.where(cells.std(axis=0) > 0, cells.std(axis=0), 1.0)
    nearest = NearestNeighbors(n_neighbors=valuer.k + 1, metric=valuer.metric).fit(cells)
    found = nearest.kneighbors(cells[some], return_distance=False)
    # The row itself is among them, but not always first where rows are equal; otherwise the last one is one too many.
    others = np.array([[row for row in near if row != own][: valuer.k] for own, near in zip(some, found)])
    if not labels:
        return np.asarray(y[others], dtype=np.float64).mean(axis=1)
    classes = valuer.classes_
    votes = np.stack([(y[others] == one).sum(axis=1) for one in classes], axis=1)
    return np.asarray(classes[votes.argmax(axis=1)])


def _parted(model: Any) -> tuple[Any, Any]:
    """The earlier steps of a fitted pipeline, or None, and its last step."""
    from sklearn.exceptions import NotFittedError as Unfitted
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, type) or not hasattr(model, "fit"):
        raise InputTypeError(f"`model` is {model!r}; expected a fitted estimator or a pipeline")
    if hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    last, steps = model, None
    if isinstance(model, Pipeline):
        last = model[-1]
        steps = model[:-1] if len(model) > 1 else None
        if last is None or isinstance(last, str):
            raise InputTypeError("the pipeline does not end with a model, so there is nothing to value rows for")
    try:
        check_is_fitted(last)
    except Unfitted:
        raise InputError(f"the {type(last).__name__} is not fitted yet: call its `fit` first") from None
    return steps, last


def _linear(last: Any, given: dict[str, Any]) -> PredictionValuer:
    if last.positive:
        raise InputError("LinearRegression(positive=True) has no closed form: its coefficients are bounded")
    free = bool(last.fit_intercept)
    return RegressionValuer(**{"intercept": free, "refit_intercept": free, **given})


def _ridge(last: Any, given: dict[str, Any]) -> PredictionValuer:
    alpha = getattr(last, "alpha_", None)
    alpha = last.alpha if alpha is None else alpha
    if np.ndim(alpha) > 0:
        raise InputError("a ridge per target has no value; give `alpha` as one number")
    if getattr(last, "positive", False):
        raise InputError("Ridge(positive=True) has no value: its coefficients are bounded")
    free = bool(last.fit_intercept)
    if alpha == 0:
        return RegressionValuer(**{"intercept": free, "refit_intercept": free, **given})
    return RegressionValuer(**{"method": "general", "ridge": float(alpha), "intercept": free, **given})


def _logistic(last: Any, given: dict[str, Any]) -> PredictionValuer:
    return _penalised(last, last.C, getattr(last, "l1_ratio", None), given)


def _logistic_cv(last: Any, given: dict[str, Any]) -> PredictionValuer:
    if not last.refit:
        raise InputError(
            "LogisticRegressionCV(refit=False) has averaged coefficients of several fits, which have no value: use refit=True"
        )
    chosen = np.unique(np.asarray(last.C_, dtype=np.float64))
    if len(chosen) > 1:
        raise InputError("a penalty of its own for each label has no value: fit a LogisticRegression with one `C`")
    ratios = np.ravel(np.asarray(getattr(last, "l1_ratio_", None), dtype=object))
    return _penalised(last, float(chosen[0]), max((ratio for ratio in ratios if ratio), default=None), given)


def _penalised(last: Any, C: float, ratio: Any, given: dict[str, Any]) -> PredictionValuer:
    penalty = getattr(last, "penalty", "l2")
    if penalty in ("l1", "elasticnet") or (penalty not in ("l2", None) and ratio):
        raise InputError("a logistic regression with an l1 penalty has no value: refit it with the penalty l2")
    if last.class_weight is not None:
        raise InputError("`class_weight` is not taken over: refit the model without it, and give `fit` a `sample_weight`")
    if last.solver == "liblinear" and last.fit_intercept:
        raise InputError("the solver 'liblinear' also penalises the intercept, which has no value: refit with 'lbfgs'")
    ridge = 0.0 if penalty is None or np.isinf(C) else 1.0 / float(C)
    return ClassificationValuer(**{"ridge": ridge, "intercept": bool(last.fit_intercept), **given})


def _of_several_labels(last: Any, valuer: PredictionValuer) -> str | None:
    """What to know about a logistic model of three labels or more, if its values are of other models."""
    if not type(last).__name__.startswith("LogisticRegression") or len(last.classes_) < 3:
        return None
    is_one_each = last.solver == "liblinear" or getattr(last, "multi_class", None) == "ovr"
    is_one_model = valuer.method == "second-order" and valuer.ridge == 0
    if is_one_each or is_one_model or is_of_neighbours(valuer.method):
        return None
    n_labels = len(last.classes_)
    return (
        f"the {type(last).__name__} is one multinomial model of {n_labels} labels, and rows are valued for {n_labels} models "
        "that each separate one label from the rest; `method='second-order', ridge=0` values them for one softmax model "
        "without a penalty"
    )


def _neighbours(last: Any, given: dict[str, Any]) -> PredictionValuer:
    if last.weights not in ("uniform", None):
        raise InputError("neighbours that count by distance have no closed form: refit with weights='uniform'")
    metric = last.metric
    if metric == "minkowski":
        metric = {1: "manhattan", 2: "euclidean"}.get(last.p, f"minkowski with p={last.p}")
    metric = {"l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean"}.get(metric, metric)
    if metric not in ("euclidean", "manhattan", "cosine"):
        raise InputError(f"the metric is {metric}; rows are valued for 'euclidean', 'manhattan' and 'cosine'")
    kind = ClassificationValuer if is_classifier(last) else RegressionValuer
    # Columns are scaled by the earlier steps, or not at all, as for the model.
    return kind(**{"method": "knn", "k": int(last.n_neighbors), "metric": metric, "scale": "none", **given})


#: What makes the valuer of each class of scikit-learn.
MODELS = {
    "LinearRegression": _linear,
    "Ridge": _ridge,
    "RidgeCV": _ridge,
    "LogisticRegression": _logistic,
    "LogisticRegressionCV": _logistic_cv,
    "KNeighborsClassifier": _neighbours,
    "KNeighborsRegressor": _neighbours,
}


def _advice(last: Any) -> str:
    if is_classifier(last) and hasattr(last, "predict_proba"):
        return ". For any classifier with `predict_proba`, use ClassificationValuer(estimator=model)"
    return ""


def _taken(rows: Any, some: NDArray[np.int64]) -> Any:
    if len(some) == len(rows):
        return rows
    return rows.iloc[some] if hasattr(rows, "iloc") else rows[some]
