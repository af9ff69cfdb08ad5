"""dshap as a valuation of pyDVL 0.10: `DshapValuation` returns pyDVL's `ValuationResult`.

pyDVL is imported when `DshapValuation` is first asked for.

    from dshap import ClassificationValuer
    from dshap.pydvl import DshapValuation
    from pydvl.valuation import Dataset

    train, test = Dataset.from_arrays(X, y, train_size=0.8)
    result = DshapValuation(ClassificationValuer()).fit(train).result
"""

from __future__ import annotations

from typing import Any

from dshap._adapters import result_of, valuer_for

__all__ = ["DshapValuation"]


def __getattr__(name: str) -> Any:
    if name != "DshapValuation":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = _made()
    globals()[name] = made
    return made


def _made() -> Any:
    """The class, once pyDVL is there."""
    from pydvl.utils.status import Status
    from pydvl.valuation.base import Valuation
    from pydvl.valuation.dataset import GroupedDataset
    from pydvl.valuation.result import ValuationResult

    class DshapValuation(Valuation):  # type: ignore[misc, no-any-unimported, unused-ignore]
        """Values the rows of a pyDVL `Dataset` by a dshap valuer.

        Parameters
        ----------
        valuer : RegressionValuer or ClassificationValuer, optional
            Not changed: a copy is fitted. By default the valuer for the kind of targets.
        test_data : pydvl.valuation.Dataset, optional
            Rows that the model will predict, as `test` of `fit`.
        """

        algorithm_name = "dshap"

        def __init__(self, valuer: Any = None, test_data: Any = None) -> None:
            super().__init__()
            self.valuer, self.test_data = valuer, test_data

        def fit(self, data: Any, continue_from: Any = None) -> Any:
            """Value all rows of `data`, each against the others. Values are exact, so there is nothing to continue."""
            if isinstance(data, GroupedDataset):
                raise TypeError("DshapValuation values single rows; give a Dataset, and use dshap.owners for groups")
            x, y = data.data()
            test = None if self.test_data is None else tuple(self.test_data.data())
            valuer = valuer_for(self.valuer, y).fit(x, y, test=test)
            values, errors = result_of(valuer)
            self.valuer_ = valuer
            self._result = ValuationResult(
                algorithm=f"dshap {valuer.method}",
                status=Status.Converged,
                values=values,
                variances=None if errors is None else errors**2,
                indices=data.indices,
                data_names=data.names,
            )
            return self

    DshapValuation.__module__, DshapValuation.__qualname__ = __name__, "DshapValuation"
    return DshapValuation
