"""What adapters to other packages share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from dshap._classification import ClassificationValuer
from dshap._errors import DshapError
from dshap._prediction import PredictionValuer
from dshap._regression import RegressionValuer


def valuer_for(valuer: Any, y: Any) -> Any:
    """A copy of the valuer, not fitted; without one, the usual valuer of such targets."""
    if valuer is not None:
        return clone(valuer)
    cells = np.asarray(y)
    return ClassificationValuer() if cells.dtype.kind not in "f" or len(np.unique(cells)) == 2 else RegressionValuer()


def result_of(valuer: PredictionValuer, std_error: bool = True) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Values of the fitted rows, and their standard errors if the method has them."""
    if std_error:
        try:
            found = valuer.explain_training(std_error=True)
            return found.value, found.stderr
        except DshapError:
            # The method has no standard errors.
            pass
    return np.asarray(valuer.value_training()), None
