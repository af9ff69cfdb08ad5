"""`find_label_issues`: wrong labels in the form that users of cleanlab know."""

from __future__ import annotations

from typing import Any

import numpy as np

from dshap._cleaning import suspects
from dshap._errors import InputError
from dshap._inputs import column_of
from dshap._kinds import is_pandas


def find_label_issues(
    X: Any,
    labels: Any,
    pred_probs: Any = None,
    *,
    output: str = "mask",
    estimator: Any = "boosting",
    categorical: list[Any] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Any:
    """Find rows whose labels are probably wrong, with the output of cleanlab's function of the same name.

    It is `dshap.suspects` for labels. cleanlab judges labels by given probabilities alone. This function also asks a
    logistic model and the nearest neighbours, and can make the probabilities itself.

    Parameters
    ----------
    X : array or frame of shape (n_rows, n_features)
        Features.
    labels : array of shape (n_rows,)
        The labels: text, numbers or booleans. They need not be numbered from 0.
    pred_probs : array of shape (n_rows, n_classes), optional
        Probabilities of the labels in sorted order, from a model that was not fitted to the row. By default those of
        `estimator`, cross-fitted.
    output : 'mask', 'ranked' or 'frame', default='mask'
        `'mask'`: an array of booleans. `'ranked'`: numbers of the flagged rows, the most suspicious first, as with
        cleanlab's `return_indices_ranked_by`. `'frame'`: a pandas frame with `is_label_issue`, `label_quality`,
        `given_label` and `predicted_label`, as from `CleanLearning.find_label_issues`.
    estimator, categorical, seed, n_jobs
        As for `suspects`.

    Returns
    -------
    array or DataFrame

    Examples
    --------
    >>> import dshap
    >>> X, y = dshap.datasets.gaussian_c(300, seed=1)
    >>> wrong_y, is_wrong = dshap.evaluate.corrupt(y, 0.05, seed=2)
    >>> issues = dshap.find_label_issues(X, wrong_y, estimator=None, output="ranked")
    >>> mask = dshap.find_label_issues(X, wrong_y, estimator=None)
    >>> sorted(issues.tolist()) == mask.nonzero()[0].tolist()
    True
    """
    if output not in ("mask", "ranked", "frame"):
        raise InputError(f"`output` is {output!r}; expected 'mask', 'ranked' or 'frame'")
    found = suspects(
        X, labels, task="classification", estimator=estimator, predictions=pred_probs, categorical=categorical, seed=seed,
        n_jobs=n_jobs,
    )  # fmt: skip
    if output == "mask":
        return found.suspect
    if output == "ranked":
        order = found.ranking()
        return order[found.suspect[order]]
    import pandas as pd

    columns = {
        "is_label_issue": found.suspect,
        "label_quality": 1.0 - np.asarray(found.score),
        "given_label": column_of(labels, "labels", as_objects=True),
        "predicted_label": found.suggested,
    }
    return pd.DataFrame(columns, index=X.index if is_pandas(X) else None)
