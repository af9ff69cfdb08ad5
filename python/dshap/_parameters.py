"""The parameters of the estimators: explicit constructors, as scikit-learn wants them.

A further option of the engine becomes a further parameter here, and nowhere else in Python: checks,
docstrings and valuer files take what they need from the catalogue.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Literal

#: The methods of each task, so that type checkers notice a misspelling; a test compares them with the catalogue.
RegressionMethod = Literal[
    "gaussian", "calibrated", "general", "lower", "upper", "algorithm-3", "knn", "knn-shapley"
]
ClassificationMethod = Literal[
    "gaussian", "second-order", "calibrated", "general", "lower", "upper", "knn", "knn-shapley"
]
DensityMethod = Literal["closed", "monte-carlo"]


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """The defaults of a function by parameter."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


class RegressionParameters:
    """The parameters of `RegressionValuer`."""

    def __init__(
        self,
        method: RegressionMethod = "gaussian",
        *,
        m: int | None = None,
        q: int | None = None,
        intercept: bool = True,
        refit_intercept: bool = False,
        ridge: float = 0.0,
        targets: str = "expected",
        constant: str = "gain",
        semivalue: str = "shapley",
        convention: str = "definition",
        bound_c: float | None = None,
        bound_C: float | None = None,
        stop: float | None = None,
        stop_draws: float | None = None,
        samples: int | None = None,
        seed: int = 0,
        k: int = 5,
        metric: str = "euclidean",
        scale: str = "std",
        tolerance: float = 1e-16,
        lists: bool = False,
        dependent: str = "drop",
        pca: int | None = None,
        categorical: list[Any] | None = None,
        rare_levels: int | None = None,
        missing: str = "error",
        unseen: str = "error",
        estimator: Any = None,
        keep_training: bool = True,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.method = method
        self.m = m
        self.q = q
        self.intercept = intercept
        self.refit_intercept = refit_intercept
        self.ridge = ridge
        self.targets = targets
        self.constant = constant
        self.semivalue = semivalue
        self.convention = convention
        self.bound_c = bound_c
        self.bound_C = bound_C
        self.stop = stop
        self.stop_draws = stop_draws
        self.samples = samples
        self.seed = seed
        self.k = k
        self.metric = metric
        self.scale = scale
        self.tolerance = tolerance
        self.lists = lists
        self.dependent = dependent
        self.pca = pca
        self.categorical = categorical
        self.rare_levels = rare_levels
        self.missing = missing
        self.unseen = unseen
        self.estimator = estimator
        self.keep_training = keep_training
        self.n_jobs = n_jobs
        self.progress = progress

    #: A parameter that has its default is not given to the engine.
    _DEFAULTS: ClassVar[dict[str, Any]] = defaults(__init__)


class ClassificationParameters:
    """The parameters of `ClassificationValuer`."""

    def __init__(
        self,
        method: ClassificationMethod = "gaussian",
        *,
        m: int | None = None,
        q: int | None = None,
        intercept: bool = True,
        ridge: float | str = "auto",
        positive: Any = None,
        utility: str = "log-loss",
        spread: str = "sandwich",
        small_ridge: float = 0.0,
        shift: float | str | None = None,
        constant: str = "gain",
        semivalue: str = "shapley",
        convention: str = "definition",
        bound_c: float | None = None,
        bound_C: float | None = None,
        stop: float | None = None,
        samples: int | None = None,
        seed: int = 0,
        k: int = 5,
        metric: str = "euclidean",
        scale: str = "std",
        tolerance: float = 1e-16,
        lists: bool = False,
        dependent: str = "drop",
        pca: int | None = None,
        categorical: list[Any] | None = None,
        rare_levels: int | None = None,
        missing: str = "error",
        unseen: str = "error",
        estimator: Any = None,
        keep_training: bool = True,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.method = method
        self.m = m
        self.q = q
        self.intercept = intercept
        self.ridge = ridge
        self.positive = positive
        self.utility = utility
        self.spread = spread
        self.small_ridge = small_ridge
        self.shift = shift
        self.constant = constant
        self.semivalue = semivalue
        self.convention = convention
        self.bound_c = bound_c
        self.bound_C = bound_C
        self.stop = stop
        self.samples = samples
        self.seed = seed
        self.k = k
        self.metric = metric
        self.scale = scale
        self.tolerance = tolerance
        self.lists = lists
        self.dependent = dependent
        self.pca = pca
        self.categorical = categorical
        self.rare_levels = rare_levels
        self.missing = missing
        self.unseen = unseen
        self.estimator = estimator
        self.keep_training = keep_training
        self.n_jobs = n_jobs
        self.progress = progress

    #: A parameter that has its default is not given to the engine.
    _DEFAULTS: ClassVar[dict[str, Any]] = defaults(__init__)


class DensityParameters:
    """The parameters of `DensityValuer`."""

    def __init__(
        self,
        method: DensityMethod = "closed",
        *,
        m: int | None = None,
        semivalue: str = "shapley",
        kernel: str = "gaussian",
        bandwidth: str | float = "auto",
        scale: str = "std",
        every_row: bool = False,
        samples: int | None = None,
        seed: int = 0,
        pca: int | None = None,
        categorical: list[Any] | None = None,
        rare_levels: int | None = None,
        missing: str = "error",
        unseen: str = "error",
        keep_training: bool = True,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.method = method
        self.m = m
        self.semivalue = semivalue
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.scale = scale
        self.every_row = every_row
        self.samples = samples
        self.seed = seed
        self.pca = pca
        self.categorical = categorical
        self.rare_levels = rare_levels
        self.missing = missing
        self.unseen = unseen
        self.keep_training = keep_training
        self.n_jobs = n_jobs
        self.progress = progress

    #: A parameter that has its default is not given to the engine.
    _DEFAULTS: ClassVar[dict[str, Any]] = defaults(__init__)
