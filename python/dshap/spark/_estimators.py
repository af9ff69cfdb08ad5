"""Estimators of `pyspark.ml`, with snake_case parameters."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from pyspark.ml.base import Estimator, Model
from pyspark.ml.param import Param
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter

from dshap import _spread
from dshap._classification import ClassificationValuer as OneMachineClassification
from dshap._density import DensityValuer as OneMachineDensity
from dshap._errors import DshapError, InputError, InputTypeError
from dshap._regression import RegressionValuer as OneMachineRegression
from dshap.spark._functions import fit, value

#: Parameters about columns and output, with their defaults and what they are for.
COLUMNS: dict[str, tuple[Any, str]] = {
    "features_col": (None, "a column of vectors or arrays, or a list of columns; all others if not given"),
    "label_col": (None, "the column that is predicted"),
    "weight_col": (None, "the column with the weights of reference rows"),
    "id_col": (None, "a column that names rows; it is no feature"),
    "owner_col": (None, "the column that names the owners of rows; it is no feature"),
    "row_col": (None, "a column that numbers the rows from 0 on, which fixes their order"),
    "value_col": ("value", "the name of the column of values"),
    "parts": (False, "whether what explains the values is appended too"),
    "std_error": (False, "whether standard errors are appended too"),
    "n_jobs": (1, "threads of a task"),
}

#: Parameters of the estimators on one machine that have no meaning here.
LOCAL = ("keep_training", "n_jobs", "progress")


class Settings:
    """Parameters of an estimator or a model, as `pyspark.ml` keeps them."""

    def _declare(self, known: dict[str, tuple[Any, str]]) -> None:
        for name, (_, text) in known.items():
            setattr(self, name, Param(self, name, text))

    def _give(self, known: dict[str, tuple[Any, str]], given: dict[str, Any]) -> None:
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise InputTypeError(f"`{unknown[0]}` is not a parameter of {type(self).__name__}")
        for name, (default, _) in known.items():
            if default is not None:
                self._setDefault(**{name: default})  # type: ignore[attr-defined]
        for name, given_value in given.items():
            if given_value is not None:
                self._set(**{name: given_value})  # type: ignore[attr-defined]

    def _now(self, name: str) -> Any:
        """The value of a parameter, None if it has none."""
        param = getattr(self, name)
        return self.getOrDefault(param) if self.isDefined(param) else None  # type: ignore[attr-defined]


class SparkValuer(Settings, Estimator, MLWritable, MLReadable):
    """Fits a reference on a cluster. Subclasses say for what."""

    _ONE_MACHINE: ClassVar[type[Any]]
    _FIXED: ClassVar[dict[str, Any]] = {}

    def __init__(self, **params: Any) -> None:
        super().__init__()
        known = self._known()
        self._declare(known)
        self._give(known, params)

    @classmethod
    def _known(cls) -> dict[str, tuple[Any, str]]:
        own = {
            name: (default, f"as for dshap.{cls._ONE_MACHINE.__name__}")
            for name, default in cls._ONE_MACHINE._DEFAULTS.items()
            if name not in LOCAL and name not in cls._FIXED
        }
        return {**COLUMNS, **own}

    def _task(self) -> str:
        return self._ONE_MACHINE._TASK

    def _fit(self, dataset: Any) -> ValuerModel:
        names = [name for name in self._known() if name not in COLUMNS]
        params = {name: self._now(name) for name in names if self._now(name) is not None}
        task = self._task()
        label = self._label(task)
        valuer = fit(
            dataset,
            None if task == "density" else label,
            task=task,
            features=self._now("features_col"),
            weight=self._now("weight_col"),
            owner=self._now("owner_col"),
            exclude=[column for column in (self._now("id_col"), label if task == "density" else None) if column],
            row=self._now("row_col"),
            n_jobs=self._now("n_jobs"),
            **self._FIXED,
            **params,
        )
        model = ValuerModel(valuer)
        return self._copyValues(model)

    def _label(self, task: str) -> str | None:
        """The column that is predicted."""
        label: str | None = self._now("label_col")
        if task != "density" and label is None:
            raise InputError("label_col is not given: name the column that is predicted")
        return label

    def fit_transform_training(self, df: Any) -> Any:
        """Fit the rows of a DataFrame and append their values, each against the others."""
        return self.fit(df).transform_training(df)

    def write(self) -> MLWriter:
        """For `pyspark.ml` pipelines."""
        return DefaultParamsWriter(self)

    @classmethod
    def read(cls) -> Any:
        """For `pyspark.ml` pipelines."""
        return DefaultParamsReader(cls)


class RegressionValuer(SparkValuer):
    """Values rows for linear regression; see `dshap.RegressionValuer` for the parameters."""

    __module__ = "dshap.spark"
    _ONE_MACHINE = OneMachineRegression


class ClassificationValuer(SparkValuer):
    """Values rows for logistic regression; see `dshap.ClassificationValuer` for the parameters."""

    __module__ = "dshap.spark"
    _ONE_MACHINE = OneMachineClassification


class DensityValuer(SparkValuer):
    """Values rows for a density estimate; see `dshap.DensityValuer` for the parameters."""

    __module__ = "dshap.spark"
    _ONE_MACHINE = OneMachineDensity


class KnnValuer(SparkValuer):
    """Values rows for the k nearest neighbours, of labels or of numbers (`task`).

    The reference must fit into the memory of the driver and of every executor.
    """

    __module__ = "dshap.spark"
    _ONE_MACHINE = OneMachineClassification
    _FIXED = {"method": "knn"}
    #: Parameters of nearest neighbours.
    _TAKEN = ("m", "q", "semivalue", "k", "metric", "scale", "samples", "tolerance", "seed", "categorical", "rare_levels", "missing", "unseen")

    @classmethod
    def _known(cls) -> dict[str, tuple[Any, str]]:
        known = {name: entry for name, entry in super()._known().items() if name in COLUMNS or name in cls._TAKEN}
        return {**known, "task": ("classification", "'classification' of labels or 'regression' of numbers")}

    def _task(self) -> str:
        task = self._now("task")
        if task not in ("classification", "regression"):
            raise InputError(f"`task` is {task!r}; expected 'classification' or 'regression'")
        return str(task)

    def _fit(self, dataset: Any) -> ValuerModel:
        if self._now("weight_col") is not None:
            raise InputError("weight_col: nearest neighbours take no weights of rows; leave it out, or name the column as id_col")
        names = [name for name in self._TAKEN if self._now(name) is not None]
        task = self._task()
        valuer = fit(
            dataset,
            self._label(task),
            task=task,
            features=self._now("features_col"),
            exclude=[column for column in (self._now("id_col"), self._now("owner_col")) if column],
            row=self._now("row_col"),
            n_jobs=self._now("n_jobs"),
            method="knn",
            **{name: self._now(name) for name in names},
        )
        return self._copyValues(ValuerModel(valuer))


class ValuerModel(Settings, Model, MLWritable, MLReadable):
    """A fitted valuer on a cluster.

    Attributes
    ----------
    valuer : RegressionValuer, ClassificationValuer or DensityValuer
        Of `dshap` itself, with everything that was learned.
    """

    __module__ = "dshap.spark"

    def __init__(self, valuer: Any = None) -> None:
        super().__init__()
        self._declare(COLUMNS)
        self._give(COLUMNS, {})
        self.valuer = valuer

    def set_params(self, **params: Any) -> ValuerModel:
        """Changes `value_col`, `parts`, `std_error`, `features_col`, `row_col` or `n_jobs`."""
        self._give(COLUMNS, params)
        return self

    def _transform(self, dataset: Any) -> Any:
        return self._valued(dataset, leave_one_out=False)

    def transform_training(self, df: Any) -> Any:
        """Append the values of the rows that were fitted, each against the others."""
        return self._valued(df, leave_one_out=True)

    def _valued(self, df: Any, *, leave_one_out: bool) -> Any:
        features = self._now("features_col")
        return value(
            df,
            self.valuer,
            leave_one_out=leave_one_out,
            features=features if isinstance(features, str) else None,
            row=self._now("row_col"),
            value_col=self._now("value_col"),
            std_error=self._now("std_error"),
            parts=self._now("parts"),
            n_jobs=self._now("n_jobs"),
        )

    def save(self, path: str) -> None:
        """Save the valuer, in the same file format as `dshap fit`; a folder without `.dshap` at the end is for pipelines."""
        if os.fspath(path).endswith(".dshap"):
            self.valuer.save(path)
        else:
            self.write().save(path)

    @classmethod
    def load(cls, path: str) -> ValuerModel:
        """Load what `save` or `dshap fit` wrote."""
        if not os.fspath(path).endswith(".dshap"):
            return cls.read().load(path)
        with open(path, "rb") as file:
            return cls(_spread.load(file.read()))

    def write(self) -> MLWriter:
        """For `pyspark.ml` pipelines."""
        return ValuerWriter(self)

    @classmethod
    def read(cls) -> Any:
        """For `pyspark.ml` pipelines."""
        return ValuerReader(cls)


class ValuerWriter(MLWriter):
    """Writes the parameters and the valuer file into a folder."""

    def __init__(self, model: ValuerModel) -> None:
        super().__init__()
        self.model = model

    def saveImpl(self, path: str) -> None:
        """Called by `save`."""
        folder = plain_path(path)
        spark = getattr(self, "sparkSession", None)
        DefaultParamsWriter.saveMetadata(self.model, path, spark)
        self.model.valuer.save(os.path.join(folder, "valuer.dshap"))


class ValuerReader(MLReader):
    """Reads what `ValuerWriter` wrote."""

    def __init__(self, kind: type[ValuerModel]) -> None:
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> ValuerModel:
        """The model in a folder."""
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        with open(os.path.join(plain_path(path), "valuer.dshap"), "rb") as file:
            model = self.kind(_spread.load(file.read()))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def plain_path(path: str) -> str:
    """A path of the driver's file system."""
    if path.startswith("file:"):
        return path.removeprefix("file:").replace("//", "/", 1)
    if "://" in path:
        raise DshapError(f"{path!r} is not a path on the driver; save to a mounted folder, or copy a `.dshap` file there")
    return path
