"""The catalogue of the engine: every method and every option, described once."""

from __future__ import annotations

import functools
import json
from typing import Any

from dshap._dshap import catalogue

#: Options that Python calls differently.
RENAMED = {"intercept": "no_intercept"}


def methods_for(task: str) -> list[dict[str, Any]]:
    """The methods that the estimator for a task takes, in the order of help."""
    return [entry for entry in methods().values() if task in entry["tasks"] and entry["is_fitted"]]


def option_of(parameter: str) -> dict[str, Any]:
    """The option that a parameter stands for."""
    return options()[RENAMED.get(parameter, parameter)]


def takes(method: dict[str, Any], option: str, task: str) -> dict[str, Any] | None:
    """How a method takes an option for a task; None if it does not."""
    return next((one for one in method["options"] if one["option"] == option and task in one["tasks"]), None)


def is_of_neighbours(method: Any) -> bool:
    """Whether a method values rows by their nearest neighbours."""
    entry = methods().get(str(method))
    return entry is not None and entry["measures"] == "neighbours"


def is_theorem_2(method: Any) -> bool:
    """Whether a method is a closed form of Theorem 2, which knows what to expect of a target."""
    entry = methods().get(str(method))
    return entry is not None and (entry["kind"], entry["measures"]) == ("closed-form", "squared-error")


@functools.cache
def methods() -> dict[str, dict[str, Any]]:
    """The entries of all methods by name, in the order of help."""
    return {entry["name"]: entry for entry in _read()["methods"]}


@functools.cache
def options() -> dict[str, dict[str, Any]]:
    """The entries of all options by name."""
    return {entry["name"]: entry for entry in _read()["options"]}


@functools.cache
def _read() -> dict[str, Any]:
    return json.loads(catalogue())
