"""The recipes for MLflow and DVC in docs/guide/tracking.md.

The commands of DVC's stages run everywhere; with the real packages the recipes run in `./test peers`.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dshap

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "tracking.md"


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), re.M | re.S)
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the table of the guide, as the working directory."""
    X, y = dshap.datasets.gaussian_r(80, 2, seed=1)
    lines = ["a,b,price", *(f"{a},{b},{price}" for (a, b), price in zip(X, y))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_of_the_stages(folder):
    commands = [shlex.split(line) for line in re.findall(r"cmd: (.*)", block("yaml"))]
    assert len(commands) == 2
    for first, *words in commands:
        assert first == "dshap"
        done = subprocess.run([sys.executable, "-m", "dshap", *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert dshap.RegressionValuer.load("price.dshap").n_rows_ == 80
    assert len((folder / "values.csv").read_text().splitlines()) == 81
    assert (folder / "summary.json").read_text().startswith("{")


def test_dvc(folder):
    pytest.importorskip("dvc", reason="DVC is not installed: ./test peers installs it")
    beside = Path(sys.executable).parent
    path = {**os.environ, "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}", "DVC_NO_ANALYTICS": "1"}

    def dvc(*words):
        done = subprocess.run([shutil.which("dvc", path=path["PATH"]), *words], capture_output=True, text=True, env=path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    dvc("init", "--no-scm")
    (folder / "dvc.yaml").write_text(block("yaml"))
    dvc("repro")
    before = (folder / "values.csv").read_bytes()
    assert len(before.splitlines()) == 81
    assert "up to date" in dvc("repro")
    rows = (folder / "rows.csv").read_text().splitlines()
    (folder / "rows.csv").write_text("\n".join(rows[:61]) + "\n")
    dvc("repro")
    assert len((folder / "values.csv").read_bytes().splitlines()) == 61


def test_mlflow(folder, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed: ./test peers installs it")
    # The skinny package has no database, so runs are files here.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((folder / "runs").as_uri())
    names = {}
    exec(compile(block("python"), str(GUIDE), "exec"), names)
    run = mlflow.last_active_run()
    assert run.data.metrics["rows"] == 300 and run.data.params["method"] == "gaussian"
    file = mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="price.dshap")
    again = dshap.RegressionValuer.load(file)
    X, y = names["X"][:5], names["y"][:5]
    np.testing.assert_array_equal(again.value(X, y), names["valuer"].value(X, y))
