"""Docstrings of parameters, made from the catalogue when the package is imported."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, TypeVar

from dshap._catalogue import methods_for, option_of, takes

#: Attributes that all estimators have.
ATTRIBUTES = """\
columns_ : list of str
    Names of the design columns, such as `age` or `city=Paris`.
n_features_in_ : int
    Features seen during fit.
feature_names_in_ : array of str
    Their names, if they have any.
warnings_ : list of str
    Warnings about the fit."""

#: What only Python has, or has in another form.
TEXTS = {
    "intercept": (
        "Whether the model has an intercept. Without one, regression does not centre by the reference means and "
        "classification has no column of ones."
    ),
    "categorical": (
        "Columns to read as categories whatever they hold: names, or numbers where columns have no names. Text and "
        "categorical columns of a frame are always categories."
    ),
    "estimator": (
        "A scikit-learn {model}. Rows are then valued for a {linear} model of its {predictions}, predicted from folds "
        "without the row. `'boosting'` is `HistGradientBoosting{kind}`. `value` asks the estimator fitted to all rows. A "
        "saved valuer holds the {linear} model only and takes {predictions}."
    ),
    "keep_training": (
        "Keep the arrays given to `fit`, for `value_training`. They are not copied, so do not change them; dshap "
        "notices if you do."
    ),
    "n_jobs": (
        "Number of threads. None and −1 mean all cores, −2 all but one and so on; at most 256 threads are started, or "
        "one per core. The values do not depend on it."
    ),
    "progress": "Show a tqdm bar for each pass over the data.",
}

#: How a text is completed for a task.
BY_TASK = {
    "regression": {"model": "regressor", "linear": "linear", "predictions": "predictions", "kind": "Regressor"},
    "classification": {"model": "classifier", "linear": "logistic", "predictions": "log-odds", "kind": "Classifier"},
}

#: Parameters that are no options of the engine.
ONLY_PYTHON = ("estimator", "keep_training", "n_jobs", "progress")

WIDTH = 80

Estimator = TypeVar("Estimator", bound=type)


def documented(estimator: Estimator) -> Estimator:
    """Fills in the lines `{parameters}` and `{attributes}` in the docstring of an estimator."""
    # There are no docstrings under `python -OO`.
    if estimator.__doc__ is not None:
        texts = {"{parameters}": parameters(estimator), "{attributes}": ATTRIBUTES}
        lines = estimator.__doc__.splitlines()
        for i, line in enumerate(lines):
            if (text := texts.get(line.strip())) is not None:
                lines[i] = textwrap.indent(text, line[: line.index("{")])
        estimator.__doc__ = "\n".join(lines)
    return estimator


def parameters(estimator: Any) -> str:
    """The section on parameters, in the format of NumPy."""
    signature = inspect.signature(estimator.__init__).parameters.values()
    return "\n".join(_parameter(one, estimator._TASK) for one in signature if one.name != "self")


def _parameter(parameter: inspect.Parameter, task: str) -> str:
    name, default = parameter.name, parameter.default
    head = f"{name} : {_type(parameter)}, " + ("optional" if default is None else f"default={default!r}")
    if name == "method":
        sentences = [_method(entry, task) for entry in methods_for(task)]
    else:
        sentences = [TEXTS[name].format(**BY_TASK.get(task, {}))] if name in TEXTS else _described(name, default)
        if name not in ONLY_PYTHON:
            sentences += _by_method(name, default, task)
    text = textwrap.fill(" ".join(sentences), WIDTH, break_on_hyphens=False)
    return head + "\n" + textwrap.indent(text, "    ")


def _method(entry: dict[str, Any], task: str) -> str:
    text = f"`'{entry['name']}'`: {_sentence(entry['summary'])}"
    # Without a reference, a method values only the rows that were fitted.
    return text if takes(entry, "reference", task) else f"{text} Only `value_training`."


def _type(parameter: inspect.Parameter) -> str:
    kinds = [kind for kind in str(parameter.annotation).split(" | ") if kind != "None"]
    plain = {"Any": "label", "list[Any]": "list"}
    return " or ".join("str" if kind.endswith("Method") else plain.get(kind, kind) for kind in kinds)


def _described(name: str, default: Any) -> list[str]:
    option = option_of(name)
    sentences = [_sentence(option["help"])]
    if words := option.get("words"):
        sentences.append(_sentence("; ".join(f"`'{one['word']}'`: {one['means']}" for one in words)))
    if option["details"]:
        sentences.append(_sentence(option["details"]))
    if default is None and option["default"] and "default" not in option["details"]:
        sentences.append(f"By default {option['default']}.")
    return sentences


def _by_method(name: str, default: Any, task: str) -> list[str]:
    """What methods make of an option, where they differ."""
    option = option_of(name)["name"]
    if option_of(name)["scope"] in ("always", "fit"):
        return []
    groups: dict[str, list[str]] = {}
    others = []
    for method in methods_for(task):
        taken = takes(method, option, task)
        if taken is None:
            others.append(method["name"])
        else:
            groups.setdefault(_role(taken, default), []).append(method["name"])
    if not groups:
        return []
    plain = groups.pop("", [])
    sentences = [f"{_listed(names, ', ')}: {role}." for role, names in groups.items()]
    if not others or not plain:
        return sentences
    if len(plain) + sum(map(len, groups.values())) > len(others):
        return [*sentences, f"Not for {_listed(others, ' and ')}."]
    return [f"For {_listed(plain, ' and ')}.", *sentences]


def _role(taken: dict[str, Any], default: Any) -> str:
    """What an option means to a method, with a default that the signature does not show."""
    role, own = taken["role"], taken["default"]
    if default is not None or own is None:
        return role
    return f"{role} (default {own})" if role else f"default {own}"


def _listed(names: list[str], last: str) -> str:
    quoted = [f"`'{name}'`" for name in names]
    return ", ".join(quoted[:-1]) + (last if len(quoted) > 1 else "") + quoted[-1]


def _sentence(text: str) -> str:
    return text if text.endswith(".") else text + "."
