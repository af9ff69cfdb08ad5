"""The leaves of tree ensembles, as coordinates in which rows can be valued."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dshap._errors import DshapError, InputError

#: Classes whose leaves are read, by package and module.
SCIKIT_LEARN = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
)
BY_HISTOGRAM = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
XGBOOST = ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor")
LIGHTGBM = ("LGBMClassifier", "LGBMRegressor")


def has_leaves(model: Any) -> bool:
    """Whether the leaf of each row can be read from a model."""
    return _reader(model) is not None


def leaves_of(model: Any, X: Any) -> NDArray[np.int64]:
    """The number of the leaf that each row falls into, in each tree: shape (n_rows, n_trees)."""
    read = _reader(model)
    if read is None:
        raise InputError(f"a {type(model).__name__} has no leaves")
    leaves = np.asarray(read(model, X))
    return leaves.reshape(len(leaves), -1).astype(np.int64)


def _reader(model: Any) -> Any:
    name, package = type(model).__name__, type(model).__module__.split(".")[0]
    if package == "sklearn" and name in SCIKIT_LEARN:
        return _applied
    if package == "sklearn" and name in BY_HISTOGRAM:
        return _by_histogram
    if package == "xgboost" and name in XGBOOST:
        return _applied
    if package == "lightgbm" and name in LIGHTGBM:
        return _by_lightgbm
    return None


def _applied(model: Any, X: Any) -> Any:
    return model.apply(X)


def _by_lightgbm(model: Any, X: Any) -> Any:
    return model.predict(X, pred_leaf=True)


def _by_histogram(model: Any, X: Any) -> NDArray[np.int64]:
    """Walks the trees, since these models have no `apply`, and checks the walk by the model's own scores."""
    where = "the leaves of this HistGradientBoosting model cannot be read"
    if not hasattr(model, "_predictors") or not hasattr(model, "_baseline_prediction"):
        raise DshapError(f"{where}: this version of scikit-learn keeps them elsewhere; use a GradientBoosting model")
    if getattr(model, "is_categorical_", None) is not None and np.any(model.is_categorical_):
        raise InputError(f"{where}, since it splits categories; encode them before the model")
    cells = np.asarray(X, dtype=np.float64)
    trees = [tree for step in model._predictors for tree in step]
    n_scores = len(model._predictors[0])
    leaves = np.empty((len(cells), len(trees)), dtype=np.int64)
    scores = np.zeros((len(cells), n_scores)) + np.ravel(model._baseline_prediction)
    for number, tree in enumerate(trees):
        leaves[:, number] = _walked(tree.nodes, cells)
        scores[:, number % n_scores] += tree.nodes["value"][leaves[:, number]]
    if not np.allclose(scores, np.reshape(model._raw_predict(cells), scores.shape), rtol=1e-6, atol=1e-9):
        raise DshapError(f"{where}: its trees do not give its own scores; use a GradientBoosting model")
    return leaves


def _walked(nodes: Any, cells: NDArray[np.float64]) -> NDArray[np.int64]:
    at = np.zeros(len(cells), dtype=np.int64)
    everyone = np.arange(len(cells))
    while True:
        here = nodes[at]
        inner = here["is_leaf"] == 0
        if not inner.any():
            return at
        cell = cells[everyone, np.where(inner, here["feature_idx"], 0)]
        left = np.where(np.isnan(cell), here["missing_go_to_left"] == 1, cell <= here["num_threshold"])
        at = np.where(inner, np.where(left, here["left"], here["right"]), at).astype(np.int64)


class LeafSpace:
    """Leaf indicators, or their principal directions: rows in the same leaves have the same coordinates.

    The squared distance of two rows is the share of trees in which they fall into different leaves, exactly if
    `components` is None, and otherwise as well as so many directions can tell.
    """

    def __init__(self, model: Any, components: int | None, seed: int) -> None:
        self.model, self.components, self.seed = model, components, seed

    def fit(self, X: Any) -> NDArray[np.float64]:
        """Learns the leaves of the reference, and returns its coordinates."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.preprocessing import OneHotEncoder

        leaves = leaves_of(self.model, X)
        self.encoder = OneHotEncoder(handle_unknown="ignore", dtype=np.float64).fit(leaves)
        self.scale = 1 / np.sqrt(2 * leaves.shape[1])
        indicators = self.encoder.transform(leaves) * self.scale
        self.n_trees, self.n_leaves = leaves.shape[1], indicators.shape[1]
        most = min(indicators.shape) - 1
        if self.components is None or self.components >= most:
            self.directions = None
            return np.asarray(indicators.toarray())
        self.directions = TruncatedSVD(self.components, random_state=self.seed % 2**32).fit(indicators)
        return np.asarray(self.directions.transform(indicators))

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The coordinates of other rows; a leaf that no reference row is in counts as different from all."""
        indicators = self.encoder.transform(leaves_of(self.model, X)) * self.scale
        found = indicators.toarray() if self.directions is None else self.directions.transform(indicators)
        return np.asarray(found)
