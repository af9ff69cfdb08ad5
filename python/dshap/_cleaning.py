"""Suspicious rows, and whether it helps to drop or relabel them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dshap import _checks, _dshap, _sets
from dshap._errors import DshapWarning, InputError, InputTypeError
from dshap._frames import Columns
from dshap._inputs import column_of, numbers
from dshap._labels import labels_of
from dshap._prediction_folds import cross_fitted, probabilities
from dshap._warn import warn

#: More different numbers than this are hardly labels.
MOST_LABELS = 20


class Suspects(Columns):
    """Rows by how much their targets contradict what other rows say.

    Attributes
    ----------
    score : array
        How suspicious each row is. Labels: one minus the probability of the given label. Numbers: the distance from
        the prediction, in robust standard deviations.
    suspect : array of bool
        Which rows are flagged.
    suggested : array
        The label that other rows suggest, or the number they predict.
    precision : float
        The share of flagged labels that are wrong, as estimated; NaN if none is flagged, and for numbers.
        docs/cleaning.md compares it with the truth.
    weights : dict
        How much each prediction counts.
    """

    __module__ = "dshap"

    def __init__(self, found: dict[str, Any], suggested: NDArray[Any], names: list[str]) -> None:
        self.score: NDArray[np.float64] = found["score"]
        self.suspect: NDArray[np.bool_] = found["is_flagged"]
        self.suggested = suggested
        self.precision = float("nan") if found["precision"] is None else float(found["precision"])
        self.weights = dict(zip(names, found["weights"]))

    def ranking(self) -> NDArray[np.int64]:
        """Row numbers, the most suspicious first."""
        return np.argsort(-self.score, kind="stable")

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        shares = ", ".join(f"{name} {weight:.2f}" for name, weight in self.weights.items())
        precision = "" if np.isnan(self.precision) else f", about {100 * self.precision:.0f} % of them wrong"
        return f"<Suspects: {self.suspect.sum()} of {len(self)} rows flagged{precision}; weights: {shares}>"

    def _columns(self) -> dict[str, Any]:
        return {"score": self.score, "suspect": self.suspect, "suggested": self.suggested}


class Cleaning(Columns):
    """What was tried with suspicious rows, and what is recommended.

    Attributes
    ----------
    recommended : 'drop', 'relabel' or None
        What to do. None: keep all rows as they are.
    rows : array of int
        The rows to do it to, most suspicious first.
    verdict : str
        The same in words.
    suspects : Suspects
        All rows by how suspicious they are.
    act, share : arrays
        What was tried, on which share of the rows.
    loss_change, loss_change_se : arrays
        Change of the squared error or log-loss of held-out rows, and its standard error. Below 0 is better.
    robust_change, robust_change_se : arrays
        The same for a loss that allows for wrong targets.
    evidence : array
        How much likelier held-out targets are than after doing nothing, as a natural logarithm.
    evidence_needed : float
        What it takes for a recommendation.
    helps : array of bool
        What could be recommended.
    loss : float
        The loss of doing nothing.
    n_tested : int
        Rows that actions were tried on: a random sample of large tables.
    """

    __module__ = "dshap"

    def __init__(self, found: dict[str, Any], suspects: Suspects) -> None:
        self.recommended: str | None = found["recommended"]
        self.rows: NDArray[np.int64] = found["acted_on"]
        self.verdict: str = found["verdict"]
        self.suspects = suspects
        acts, shares, changes, evidence, helps = zip(*found["tested"])
        self.act: NDArray[np.object_] = np.array(acts, dtype=object)
        self.share: NDArray[np.float64] = np.array(shares)
        self.loss_change, self.loss_change_se, self.robust_change, self.robust_change_se = np.array(changes).T
        self.evidence: NDArray[np.float64] = np.array(evidence)
        self.helps: NDArray[np.bool_] = np.array(helps)
        self.evidence_needed: float = found["evidence_needed"]
        self.loss: float = found["loss"]
        self.n_tested: int = found["n_tested"]

    def apply(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The rows after the recommended action: fewer rows, or other labels. X and y themselves do not change."""
        if self.recommended == "drop":
            keep = np.setdiff1d(np.arange(len(self.suspects)), self.rows)
            return _taken(X, keep), _taken(y, keep)
        if self.recommended == "relabel":
            labels = y.copy() if hasattr(y, "copy") else np.array(y)
            new = self.suspects.suggested[self.rows]
            if hasattr(labels, "iloc"):
                labels.iloc[self.rows] = new
            else:
                labels = np.asarray(labels)
                labels[self.rows] = new
            return X, labels
        return X, y

    def __len__(self) -> int:
        return len(self.act)

    def __repr__(self) -> str:
        return f"<Cleaning: {self.verdict}>"

    def _columns(self) -> dict[str, Any]:
        names = ("act", "share", "loss_change", "loss_change_se", "robust_change", "robust_change_se", "evidence", "helps")
        return {name: getattr(self, name) for name in names}


def suspects(
    X: Any,
    y: Any,
    *,
    task: str | None = None,
    estimator: Any = "boosting",
    predictions: Any = None,
    categorical: list[Any] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Suspects:
    """Rows whose labels or targets contradict what other rows say.

    A linear or logistic model, the ten nearest neighbours and an estimator predict each row from folds without it.
    Their predictions are mixed so that the given labels are likeliest, or the distances smallest.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, n_features)
        Features.
    y : array of shape (n_rows,)
        Labels or numbers.
    task : 'regression' or 'classification', optional
        By default labels if they are text, boolean or two-valued.
    estimator : estimator, 'boosting' or None, default='boosting'
        A scikit-learn classifier whose predictions also count; by default gradient boosting
        (`HistGradientBoostingClassifier`). None: the model and the neighbours alone. For labels only, and for
        features that are numbers; otherwise the default is None.
    predictions : array of shape (n_rows, n_classes), optional
        Probabilities of the labels in sorted order from an estimator that was not fitted to the row, instead of
        `estimator`.
    categorical : list, optional
        Columns of numbers that are categories.
    seed : int, default=0
        Seed of the folds.
    n_jobs : int, optional
        Number of threads; all cores by default.
    progress : bool, default=False
        Whether to show progress.

    Returns
    -------
    Suspects

    Examples
    --------
    >>> import dshap
    >>> X, y = dshap.datasets.gaussian_c(300, seed=1)
    >>> wrong_y, is_wrong = dshap.evaluate.corrupt(y, 0.05, seed=2)
    >>> found = dshap.suspects(X, wrong_y, estimator=None)
    >>> detected = dshap.evaluate.noise_detection({"score": -found.score}, is_wrong)
    >>> bool(detected.auc[0] > 0.8)
    True
    """
    given = _Given(X, y, task, categorical, seed, 1)
    names, others = given.others(estimator, predictions)
    with _sets.bar(progress) as bar:
        found = _dshap.suspects(
            given.rows.table, given.options, given.rows.categorical, others, _checks.threads(n_jobs), bar
        )
    return Suspects(found, given.suggested(found), names)


def clean(
    X: Any,
    y: Any,
    *,
    task: str | None = None,
    estimator: Any = None,
    predictions: Any = None,
    categorical: list[Any] | None = None,
    repeats: int = 2,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Cleaning:
    """Find suspicious rows, and test whether dropping or relabelling them helps.

    Dropping the most suspicious 0.5, 1, 2, 5 and 10 % is tried by repeated cross-fitting, and for labels also changing
    them. Often nothing is recommended. `dshap clean --help` has the rule, and docs/cleaning.md how often it is right.

    Parameters
    ----------
    X, y, task, predictions, categorical, seed, n_jobs, progress
        As for `suspects`.
    estimator : estimator, 'boosting' or None, default=None
        As for `suspects`. It helps to rank rows; actions are tested with the model and the neighbours.
    repeats : int, default=2
        Number of repeats of five folds.

    Returns
    -------
    Cleaning

    Examples
    --------
    >>> import dshap
    >>> X, y = dshap.datasets.gaussian_r(300, 3, seed=1)
    >>> found = dshap.clean(X, y)
    >>> found.recommended is None, found.verdict.startswith("recommendation: keep all rows")
    (True, True)
    """
    given = _Given(X, y, task, categorical, seed, repeats)
    names, others = given.others(estimator, predictions)
    with _sets.bar(progress) as bar:
        found = _dshap.cleaned(
            given.rows.table, given.options, given.rows.categorical, others, _checks.threads(n_jobs), bar
        )
    return Cleaning(found, Suspects(found, given.suggested(found), names))


class _Given:
    """Rows with targets as numbers, or as codes of their labels."""

    def __init__(self, X: Any, y: Any, task: str | None, categorical: Any, seed: int, repeats: int) -> None:
        if task not in (None, "regression", "classification"):
            raise InputError(f"`task` is {task!r}; expected 'regression', 'classification' or None")
        if y is None:
            raise InputError("rows without a target y cannot be suspicious")
        self.X, self.classes = X, None
        target = labels_of(y) if task != "regression" else None
        is_label = target is not None and (
            task == "classification" or target.kind != "numbers" or len(np.unique(target.cells)) == 2
        )
        if target is not None and is_label:
            if any(cell is None or cell != cell for cell in target.cells):
                raise InputError("y has missing labels; leave these rows out")
            classes, codes = np.unique(target.cells, return_inverse=True)
            if len(classes) < 2:
                raise InputError("y has one label only (one class)")
            self.classes, self.y = classes.astype(target.dtype), codes.astype(np.float64)
        else:
            self.y = np.ascontiguousarray(numbers(y, "y"), dtype=np.float64)
            if task is None:
                _warn_of_few_numbers(self.y)
        kind = "classification" if is_label else "regression"
        self.rows = _sets.rows(X, self.y, kind, categorical)
        whole = _checks.whole("repeats", repeats, 1, 10**6)
        self.options = _sets.options({"task": kind, "seed": _checks.whole("seed", seed, 0, 2**64 - 1)})
        self.options._DEFAULTS = {**self.options._DEFAULTS, "repeats": 2}
        self.options.repeats = whole
        self.seed = self.options.seed

    def others(self, estimator: Any, predictions: Any) -> tuple[list[str], list[NDArray[np.float64]]]:
        """Names of all predictions, and those that do not come from dshap."""
        names = ["model", "neighbours"]
        if predictions is None and estimator is None:
            return names, []
        if self.classes is None:
            if predictions is None and isinstance(estimator, str):
                return names, []
            raise InputTypeError("`estimator` and `predictions` go with labels only")
        found = predictions if predictions is not None else cross_fitted(self.X, self.y, estimator, self.seed)
        if found is None:
            return names, []
        probs = probabilities(found, len(self.y), len(self.classes))
        return [*names, "estimator"], [np.ascontiguousarray(probs.ravel())]

    def suggested(self, found: dict[str, Any]) -> NDArray[Any]:
        """Expected targets as they were given."""
        expected = found["expected"]
        return expected if self.classes is None else self.classes[expected.astype(np.int64)]


def _warn_of_few_numbers(y: NDArray[np.float64]) -> None:
    """Numbers that may be labels are guessed to be quantities; the same rule and words as on the command line."""
    n_numbers = len(np.unique(y))
    if 2 < n_numbers <= MOST_LABELS and (y == np.round(y)).all():
        warn(
            f"y has only {n_numbers} different values, all whole numbers, and is predicted as a quantity; if they are "
            "labels, use `task='classification'`, else `task='regression'`",
            DshapWarning,
        )


def _taken(rows: Any, keep: NDArray[np.int64]) -> Any:
    """Some rows of an array or a frame."""
    if hasattr(rows, "iloc"):
        return rows.iloc[keep]
    if hasattr(rows, "take") and not isinstance(rows, np.ndarray):
        return rows.take(keep)
    try:
        return rows[keep]
    except TypeError:
        return column_of(rows, "rows")[keep]
