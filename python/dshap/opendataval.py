"""dshap as a `DataEvaluator` of OpenDataVal 1.3: `DshapEvaluator`.

OpenDataVal and torch are imported when `DshapEvaluator` is first asked for.

    from dshap import ClassificationValuer
    from dshap.opendataval import DshapEvaluator

    values = DshapEvaluator(ClassificationValuer("knn")).train(fetcher).data_values
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dshap._adapters import result_of, valuer_for

__all__ = ["DshapEvaluator"]


def __getattr__(name: str) -> Any:
    if name != "DshapEvaluator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = _made()
    globals()[name] = made
    return made


def _made() -> Any:
    """The class, once OpenDataVal is there."""
    from opendataval.dataval.api import DataEvaluator, ModelLessMixin

    class DshapEvaluator(DataEvaluator, ModelLessMixin):  # type: ignore[misc, no-any-unimported, unused-ignore]
        """Values the training rows of OpenDataVal by a dshap valuer.

        Parameters
        ----------
        valuer : RegressionValuer or ClassificationValuer, optional
            Not changed: a copy is fitted. By default the valuer for the kind of targets.
        use_valid : bool, default=False
            Whether values are for the validation rows, as `test` of `fit`. By default for rows like the training rows.
        embedding_model : opendataval.model.Model, optional
            Its embeddings are valued instead of the inputs.
        random_state : optional
            Not used: values are exact.
        """

        def __init__(
            self, valuer: Any = None, use_valid: bool = False, embedding_model: Any = None, random_state: Any = None
        ) -> None:
            self.valuer, self.use_valid, self.embedding_model = valuer, use_valid, embedding_model
            super().__init__(random_state)

        def train_data_values(self, *args: Any, **kwargs: Any) -> Any:
            """Value the training rows, each against the others."""
            x_train, x_valid = (_flat(x) for x in self.embeddings(self.x_train, self.x_valid))
            y_train, y_valid = _target(self.y_train), _target(self.y_valid)
            test = (x_valid, y_valid) if self.use_valid else None
            self.valuer_ = valuer_for(self.valuer, y_train).fit(x_train, y_train, test=test)
            self.data_values, _ = result_of(self.valuer_, std_error=False)
            return self

        def evaluate_data_values(self) -> Any:
            """The values, in the order of the training rows."""
            return self.data_values

    DshapEvaluator.__module__, DshapEvaluator.__qualname__ = __name__, "DshapEvaluator"
    return DshapEvaluator


def _flat(rows: Any) -> Any:
    cells = np.asarray(rows, dtype=np.float64)
    return cells.reshape(len(cells), -1)


def _target(y: Any) -> Any:
    """Labels as numbers from one-hot columns, or the targets as they are."""
    cells = np.asarray(y, dtype=np.float64)
    if cells.ndim == 2 and cells.shape[1] > 1:
        return cells.argmax(axis=1)
    return cells.ravel()
