"""What all valuers share: rows in, values out, files, pickles, names."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from dshap import _checks, _inputs
from dshap._dshap import Table, Valuer
from dshap._errors import DshapError, DshapWarning, InputError, InputTypeError, NotFittedError
from dshap._explanation import Explanation
from dshap._frames import frame_like
from dshap._inputs import Target
from dshap._kinds import is_frame, is_pandas, shape_of
from dshap._names import Names, check_names, named_columns, names_of
from dshap._pairs import beside, beside_without_target
from dshap._progress import Bar
from dshap._values import Values
from dshap._warn import warn

#: Parameters that do not change what is fitted.
OUTSIDE = frozenset({"m", "q", "keep_training", "n_jobs", "progress"})

#: What neither a valuer nor its copy changes.
UNCHANGING = frozenset({"_fitted", "_training", "_training_tests"})


class BaseValuer(BaseEstimator):
    """Fits a reference and values rows against it.

    A subclass has a constructor with its parameters, the methods that take rows, and the
    names of what it learns.
    """

    #: What rows are valued for, as the engine calls it.
    _TASK: ClassVar[str]

    #: Facts of a fit that become attributes with an underscore.
    _LEARNED: ClassVar[tuple[str, ...]]

    #: The parameters and their defaults.
    _DEFAULTS: ClassVar[dict[str, Any]]

    # Parameters of every subclass.
    categorical: list[Any] | None
    keep_training: bool
    m: int | None
    missing: str
    n_jobs: int | None
    progress: bool

    def value_training(self, *, as_frame: bool = False) -> NDArray[np.float64] | Any:
        """Value the rows given to `fit`, each against the others (leave-one-out).

        Parameters
        ----------
        as_frame : bool, default=False
            Return a frame of the kind that was fitted, with the parts of the values.

        Returns
        -------
        array of shape (n_rows,) or frame
            In row order; NaN where a row has no value.
        """
        as_frame = _checks.flag("as_frame", as_frame, "; the frame is of the kind that was fitted")
        found = self._explain_training(parts=as_frame)
        return frame_like(found, self._training[2][0]) if as_frame else found.value

    def explain_training(self, *, std_error: bool = False) -> Values:
        """Value the rows given to `fit`, each against the others, with explanations.

        Parameters
        ----------
        std_error : bool, default=False
            Whether to add standard errors.

        Returns
        -------
        Values
        """
        return self._explain_training(std_error=std_error)

    def save(self, path: str | bytes | os.PathLike[Any]) -> None:
        """Save the fitted valuer, in the same file format as `dshap fit`.

        Parameters
        ----------
        path : path
            Such as `price.dshap`. The file appears whole or not at all.
        """
        self._check()
        self._fitted.save(_checks.path(path))

    @classmethod
    def load(cls, path: str | bytes | os.PathLike[Any]) -> Self:
        """Load a valuer saved by `save` or by `dshap fit`.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        estimator
            Fitted, with the parameters it was saved with.

        Raises
        ------
        FileError
            If the file cannot be read, is damaged or is not a valuer.
        """
        fitted = Valuer.load(_checks.path(path))
        if fitted.task != cls._TASK:
            raise InputError(
                f"{_checks.path(path)!r} holds a valuer for {fitted.task}; load it with "
                f"{fitted.task.capitalize()}Valuer.load"
            )
        return cls._of_fitted(fitted)

    @classmethod
    def _of_fitted(cls, fitted: Valuer) -> Self:
        """The estimator that would fit such a valuer, fitted."""
        known = cls._get_param_names()
        valuer = cls(**{name: value for name, value in fitted.params().items() if name in known})
        facts = fitted.facts()
        valuer._adopt(fitted, Names(facts["features"], True) if facts["has_names"] else None)
        valuer._fitted_params = valuer.get_params(deep=False)
        return valuer

    def _fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, test: Any = None, population: Any = None
    ) -> Self:
        table, names, target = _inputs.table(X, y, sample_weight, target_of=self._target_of)
        if test is not None and population is not None:
            raise InputError("values are for the rows of `test` or of `population`, not of both")
        tests = None if test is None else self._tests(test, table, names)
        if population is not None:
            tests = beside_without_target(population, "population", table, names, type(self).__name__)
        has_names = names is not None and not names.are_numbers
        is_kept = _checks.flag("keep_training", self.keep_training)
        categorical = named_columns(self.categorical, table.names, names)
        with self._bar() as bar:
            fitted = Valuer.fit(
                table, self, categorical, has_names, is_kept, self._threads(), bar, tests, population is not None
            )
        self._adopt(fitted, names, target)
        self._fitted_params = self.get_params(deep=False)
        if is_kept:
            self._training = (table, _index_of(X), (X, y, sample_weight))
            self._training_tests = (tests, population is not None)
        self._warn(fitted.warnings)
        return self

    def _tests(self, test: Any, table: Table, names: Names | None) -> Table:
        """Test rows, with the column names of the reference."""
        return beside(test, "test", table, names, self._target_of, type(self).__name__)

    def _value(
        self, X: Any, y: Any = None, *, m: int | None, q: int | None = None, as_frame: bool
    ) -> NDArray[np.float64] | Any:
        as_frame = _checks.flag("as_frame", as_frame, "; the frame is of the kind of X")
        found = self._explain(X, y, m=_checks.size("m", m), q=q, parts=as_frame)
        return frame_like(found, X) if as_frame else found.value

    def _standard_errors(
        self, X: Any, y: Any = None, *, m: int | None, q: int | None = None
    ) -> NDArray[np.float64]:
        errors = self._explain(X, y, m=_checks.size("m", m), q=q, std_error=True, parts=False).stderr
        assert errors is not None, "the engine refuses methods without standard errors"
        return errors

    def _explain(
        self,
        X: Any,
        y: Any = None,
        *,
        m: int | Sequence[int] | None = None,
        q: int | None = None,
        std_error: bool = False,
        parts: bool = True,
    ) -> Values:
        self._check()
        sizes, q = _checks.sizes("m", m), _checks.size("q", q)
        expects = y is None and self._expects_targets() and not std_error
        table, index = self._table(X, y, expects=expects), _index_of(X)
        each = [self._valued(table, index, one, q, False, std_error, parts) for one in sizes]
        if len(each) > 1:
            each[0]._add_sizes({one: values for one, values in zip(sizes, each) if one is not None})
        return each[0]

    def _expects_targets(self) -> bool:
        """Whether rows without targets have values."""
        return False

    def _explain_training(self, *, std_error: bool = False, parts: bool = True) -> Values:
        self._check()
        if "_training" not in self.__dict__:
            raise DshapError(
                "the rows of the reference were not kept: `fit` keeps them with keep_training=True, until "
                "`partial_fit`; a merged, loaded or unpickled estimator has none"
            )
        table, index, _ = self._training
        return self._valued(table, index, None, None, True, std_error, parts)

    def _valued(
        self, table: Table, index: Any, m: int | None, q: int | None, leave_one_out: bool, std_error: bool, parts: bool
    ) -> Values:
        std_error = _checks.flag("std_error", std_error)
        with self._bar() as bar:
            found = self._fitted.value_table(table, m, q, leave_one_out, std_error, parts, self._threads(), bar)
        self._warn(found.pop("warnings"))
        # The fit as it is now: fitting again does not change what these values are of.
        fitted, threads = self._fitted, self._threads()

        def explain(row: int) -> Explanation:
            return Explanation(*fitted.explain_row(table, row, m, q, leave_one_out, threads))

        values = Values._of(found, index=index, explain=explain)
        if std_error:
            values._sum_errors = lambda group, n_groups: fitted.sum_errors(
                table, group, n_groups, m, q, leave_one_out, threads
            )
        return values

    def _table(self, X: Any, y: Any, weights: Any = None, expects: bool = False) -> Table:
        """A table with the column names of the reference; without a target, if it is only expected."""
        _inputs.refuse_unusable(X)
        given = names_of(X)
        # An object that only hands out Arrow data has its names known once it is read.
        named_later = is_frame(X) and given is None
        if not named_later:
            self._check_names(given)
        if not is_frame(X):
            X = _inputs.array(X)
        shape = shape_of(X)
        if shape is not None and shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        if expects:
            table, names, _ = _inputs.table(X, None, target_of=lambda _: None, names=list(self._features))
        else:
            table, names, _ = _inputs.table(
                X, y, weights, target_of=self._target_of, names=list(self._features), called=self._target
            )
        if named_later:
            self._check_names(names)
        return table

    def _check_names(self, given: Names | None) -> None:
        doubt = check_names(self._names, given, type(self).__name__)
        if doubt is not None:
            warn(doubt, UserWarning)

    def _target_of(self, y: Any) -> Target | None:
        """y as the task needs it; None if nothing is predicted."""
        raise NotImplementedError

    def _merged(self, others: Iterable[Any]) -> Self:
        """A new valuer, of this one and others of its kind."""
        self._check()
        parts = []
        for other in others:
            if not isinstance(other, BaseValuer) or other._TASK != self._TASK:
                raise InputTypeError(f"a {type(other).__name__} cannot be merged with a {type(self).__name__}")
            other._check()
            parts.append(other._fitted)
        with self._bar() as bar:
            fitted = self._fitted.merged(parts, self._threads(), bar)
        whole = type(self)(**self.get_params(deep=False))
        whole._adopt(fitted, self._names)
        whole._fitted_params = whole.get_params(deep=False)
        whole._warn(fitted.warnings)
        return whole

    def _adopt(self, fitted: Valuer, names: Names | None, target: Target | None = None) -> None:
        """Takes on a fit; `target` is the target that was fitted, if known."""
        facts = fitted.facts()
        self._fitted = fitted
        self._names = names
        self.__dict__.pop("_training", None)
        self.__dict__.pop("_training_tests", None)
        self._features, self._target = facts["features"], facts["target"]
        self.n_features_in_ = len(facts["features"])
        if names is not None and names.are_text:
            self.feature_names_in_ = np.asarray(names.names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)
        for name in self._LEARNED:
            # An attribute that the method does not learn is absent.
            if facts.get(name) is None:
                self.__dict__.pop(name + "_", None)
            else:
                setattr(self, name + "_", facts[name])
        self.warnings_ = fitted.warnings

    def _threads(self) -> int | None:
        return _checks.threads(self.n_jobs)

    def _bar(self) -> Any:
        return Bar() if _checks.flag("progress", self.progress) else nullcontext()

    def _check(self) -> None:
        if "_fitted" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            )

    def _warn(self, warnings: list[str]) -> None:
        for text in warnings:
            warn(text, DshapWarning)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.string = False
        return tags

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Unlike a pickle, a copy keeps the fitted rows, which neither of the two changes.
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        for name, value in self.__dict__.items():
            twin.__dict__[name] = value if name in UNCHANGING else copy.deepcopy(value, memo)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # Rows are not pickled, as they are not in a valuer file.
        state.pop("_training", None)
        state.pop("_training_tests", None)
        fitted = state.pop("_fitted", None)
        if fitted is not None:
            state["_bytes"] = fitted.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop("_bytes", None)
        super().__setstate__(state)
        if data is not None:
            self._fitted = Valuer.from_bytes(data)


def _index_of(X: Any) -> Any:
    return X.index if is_pandas(X) else None
