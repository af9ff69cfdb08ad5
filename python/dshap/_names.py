"""Names of columns, and whether they are those of the reference.

scikit-learn takes only text for names. Other labels of pandas columns, such as
numbers, do not count as `feature_names_in_`, but they identify columns all the same.
Only the numbers 0, 1, 2 and so on add nothing to positions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dshap._errors import InputError, InputTypeError
from dshap._kinds import is_frame, is_pandas


class Names(NamedTuple):
    """The names of the columns of a frame."""

    names: list[str]  #: as text, whatever they are
    are_text: bool  #: whether they are text to begin with
    are_numbers: bool = False  #: whether they are 0, 1, 2 and so on

    def of_design(self) -> list[str]:
        """The names that the engine uses."""
        return numbered(len(self.names)) if self.are_numbers else self.names


def numbered(n_columns: int) -> list[str]:
    """The names of columns without names, as in an NPY file."""
    return [f"column_{j}" for j in range(n_columns)]


def names_of(X: Any) -> Names | None:
    """The names of the columns, if X has any."""
    if is_pandas(X):
        labels = list(X.columns)
    elif hasattr(X, "column_names"):  # pyarrow
        labels = list(X.column_names)
    elif is_frame(X) and hasattr(X, "columns"):  # polars
        labels = list(X.columns)
    elif is_frame(X) and hasattr(getattr(X, "schema", None), "names"):
        labels = list(X.schema.names)
    else:
        return None
    texts = [isinstance(label, str) for label in labels]
    if any(texts) and not all(texts):
        raise InputTypeError(
            "Feature names are only supported if all input features have string names, "
            f"but your input has {sorted({type(label).__name__ for label in labels})} as feature name / column "
            "name types. If you want feature names to be stored and validated, you must convert them all to "
            "strings, by using X.columns = X.columns.astype(str) for example."
        )
    return Names([str(label) for label in labels], all(texts), not any(texts) and labels == list(range(len(labels))))


def check_names(fitted: Names | None, given: Names | None, estimator: str) -> str | None:
    """Compares names as scikit-learn does; returns a warning, if there is one."""
    if fitted is not None and given is not None:
        both_text = fitted.are_text and given.are_text
        # Numbers are compared too, unless they are 0, 1, 2 and so on.
        labels = not fitted.are_text and not given.are_text and not given.are_numbers
        if both_text or labels or sorted(fitted.names) == sorted(given.names):
            _refuse_others(fitted.names, given.names)
            return None
    if given is not None and given.are_text and not (fitted is not None and fitted.are_text):
        return f"X has feature names, but {estimator} was fitted without feature names"
    if fitted is not None and fitted.are_text and not (given is not None and given.are_text):
        return f"X does not have valid feature names, but {estimator} was fitted with feature names"
    return None


def named_columns(wanted: Any, columns: list[str], names: Names | None) -> list[str]:
    """The columns in the parameter `categorical`, by the names that the engine uses."""
    if wanted is None:
        return []
    if isinstance(wanted, (str, bytes)) or not hasattr(wanted, "__iter__"):
        raise InputTypeError(f"`categorical` is {wanted!r}; expected a list of columns, such as ['city'], or None")
    # Labels that are not text, such as numbers, name columns too; otherwise numbers are positions.
    by_label = {} if names is None or names.are_text else dict(zip(names.names, columns))
    found = []
    for column in wanted:
        is_number = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
        if not isinstance(column, str) and str(column) in by_label:
            found.append(by_label[str(column)])
        elif is_number and not by_label and -len(columns) <= column < len(columns):
            found.append(columns[column])
        elif column in columns:
            found.append(column)
        else:
            raise InputError(f"`categorical` names {column!r}, which is not a column of X; X has {len(columns)} columns")
    return found


def _refuse_others(fitted: list[str], names: list[str]) -> None:
    if fitted == names:
        return
    message = "The feature names should match those that were passed during fit.\n"
    unexpected, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))

    def listed(some: list[str]) -> str:
        return "".join(f"- {name}\n" for name in some[:5]) + ("- ...\n" if len(some) > 5 else "")

    if unexpected:
        message += "Feature names unseen at fit time:\n" + listed(unexpected)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not unexpected and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise InputError(message)
