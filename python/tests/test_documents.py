"""Runs the guide and the examples in docstrings, and checks types."""

import doctest
import re
import subprocess
import sys
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

import dshap
import dshap._catalogue
import dshap._classification
import dshap._density
import dshap._label_issues
import dshap._oob
import dshap._parameters
import dshap._pipeline
import dshap._regression
import dshap._trials
import dshap._values

GUIDE = ROOT / "docs" / "python.md"


def test_the_guide(monkeypatch, tmp_path):
    blocks = [
        (text.start(), text.group(1)) for text in re.finditer(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.M | re.S)
    ]
    assert len(blocks) > 10
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "guide"}
    for start, code in blocks:
        line = GUIDE.read_text()[:start].count("\n") + 1
        exec(compile("\n" * line + code, str(GUIDE), "exec"), names)


@pytest.mark.parametrize("document", ["README.md", "docs/guide/explain.md"])
@pytest.mark.filterwarnings("ignore::dshap.DshapWarning")
def test_python_of_other_documents(document, monkeypatch, tmp_path):
    X, y = dshap.datasets.gaussian_r(200, 3, seed=1)
    names = {"__name__": document, "X": X, "y": y, "labels": np.where(y > 0, "yes", "no")}
    names |= dict(zip(("new_X", "new_y"), dshap.datasets.gaussian_r(30, 3, seed=2)))
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(), re.M | re.S)
    # Clusters have tests of their own.
    blocks = [block for block in blocks if "dshap.spark" not in block]
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, document, "exec"), names)
    if document == "README.md":
        assert len(names["valuer"].explain(names["new_X"], names["new_y"]).bottom(20)) == 20


@pytest.mark.parametrize(
    "module",
    [
        dshap,
        dshap.baselines,
        dshap.datasets,
        dshap.evaluate,
        dshap.formula,
        dshap._classification,
        dshap._density,
        dshap._label_issues,
        dshap._oob,
        dshap._pipeline,
        dshap._regression,
        dshap._trials,
        dshap._values,
    ],
    ids=lambda module: module.__name__,
)
def test_examples_in_docstrings(module):
    # Public classes name `dshap` as their module, so they are collected by hand.
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    found = finder.find(module, extraglobs={"np": np})
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == "dshap" and module is not dshap:
            found += finder.find(value, extraglobs={"np": np, "dshap": dshap})
    tried = sum(runner.run(test).attempted for test in found)
    assert tried > 0 and runner.failures == 0


def test_every_public_name_is_documented():
    modules = [dshap, dshap.baselines, dshap.datasets, dshap.evaluate, dshap.formula]
    for module in modules:
        for name in module.__all__:
            value = getattr(module, name)
            if name == "__version__":
                continue
            assert value.__doc__, f"{module.__name__}.{name}"
            methods = vars(value).items() if isinstance(value, type) and value.__module__.startswith("dshap") else []
            for method, function in methods:
                if callable(function) and not method.startswith("_"):
                    assert function.__doc__, f"{name}.{method}"


@pytest.mark.parametrize("kind", [dshap.RegressionValuer, dshap.ClassificationValuer, dshap.DensityValuer])
def test_parameters_and_attributes_are_those_of_the_docstring(kind):
    before, after = kind.__doc__.split("Parameters\n")[1].split("Attributes\n")

    def documented(text):
        return [name for line in re.findall(r"^    ([\w, ]+) : ", text, re.M) for name in line.split(", ")]

    assert sorted(documented(before)) == sorted(kind().get_params())
    X, y = dshap.datasets.gaussian_c(100)
    fitted = [kind().fit(pd.DataFrame(X, columns=list("abc")), y)]
    if "k" in kind().get_params():
        # Neighbours have test rows and no coefficients.
        fitted.append(kind("knn").fit(X, y))
    learned = {name for one in fitted for name in vars(one) if name.endswith("_")}
    assert sorted(documented(after)) == sorted(learned)


ALLOWED = ROOT / "python" / "tests" / "stubtest-allowed.txt"
TYPES = {
    "stubs are those of the binary": ["mypy.stubtest", "dshap", "--allowlist", ALLOWED, "--mypy-config-file"],
    "types agree": ["mypy", "-p", "dshap", "--config-file"],
}


@pytest.mark.parametrize("what", TYPES)
def test_types(what, tmp_path):
    command = [sys.executable, "-m", *map(str, TYPES[what]), str(ROOT / "pyproject.toml")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_misspelled_method_is_a_type_error(tmp_path):
    script = tmp_path / "script.py"
    script.write_text('from dshap import RegressionValuer\nRegressionValuer("gausian")\nRegressionValuer("calibrated")\n')
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(script)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    assert len(errors) == 1 and "script.py:2" in errors[0] and "gausian" in errors[0], done.stdout


@pytest.mark.parametrize("task", ["regression", "classification", "density"])
def test_methods_of_type_checkers_are_those_of_the_catalogue(task):
    known = get_args(getattr(dshap._parameters, f"{task.capitalize()}Method"))
    assert sorted(known) == sorted(entry["name"] for entry in dshap._catalogue.methods_for(task))


def test_reference_pages_can_be_made(tmp_path):
    command = [sys.executable, "-m", "pdoc", "--docformat", "numpy", "--output-directory", str(tmp_path), "dshap"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "value_training" in (tmp_path / "dshap.html").read_text()
