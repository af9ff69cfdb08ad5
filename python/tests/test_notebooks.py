"""Notebooks of docs/notebooks run, and what they claim holds. The site shows what these runs leave.

`./test python` runs those with pictures, and `./test spark` that on Spark.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ROOT / "docs" / "site" / "notebooks.py"

spec = importlib.util.spec_from_file_location("notebooks", RUNNER)
notebooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebooks)


@pytest.mark.parametrize("name", notebooks.names())
def test_a_notebook_runs_and_its_claims_hold(name):
    if not notebooks.can_run(name):
        pytest.skip("another environment runs it")
    command = [sys.executable, str(RUNNER), name]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "agg"})
    assert done.returncode == 0, done.stderr[-3000:]
    folder = notebooks.out_folder() / name
    page = (folder / "page.md").read_text()
    assert notebooks.is_fresh(name) and page.startswith("# ") and "## Verdict" in page
    assert "assert " not in page, "claims are checked in cells that the page leaves out"
    assert page.count("](" + name) == len(list(folder.glob("*.svg")))
    opened = json.loads((folder / f"{name}.ipynb").read_text())
    assert opened["nbformat"] == 4 and all(cell["id"] for cell in opened["cells"])


def test_every_notebook_checks_its_claims():
    for name in notebooks.names():
        cells = notebooks.cells_of((notebooks.SOURCES / f"{name}.py").read_text())
        assert cells[0].kind == "markdown" and cells[0].text.startswith("# ")
        assert any(cell.kind == "check" and "assert " in cell.text for cell in cells), name
        assert "## Verdict" in cells[-1].text, name


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Runs a notebook of this test's own making, and returns its page."""
    monkeypatch.setattr(notebooks, "SOURCES", tmp_path)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))

    def run(source):
        (tmp_path / "own.py").write_text(source)
        notebooks.run("own")
        return (tmp_path / "target" / "notebooks" / "own" / "page.md").read_text()

    return run


def test_pages_show_what_cells_print_and_return(own):
    page = own(
        "# %% [markdown]\n# # Title\n#\n# Text.\n\n# %%\nimport warnings\nx = 2\nprint('two', x)\nwarnings.warn('mind this')\n"
        "x + 1\n\n# %% tags=[\"check\"]\nassert x == 2\n\n# %%\nclass Rich:\n    def _repr_html_(self):\n"
        "        return '<b>\\n\\n  bold</b>'\nRich()\n"
    )
    assert page.startswith("# Title\n\nText.\n\n```python\nimport warnings")
    assert "```text\ntwo 2\nUserWarning: mind this\n3\n```" in page
    assert '<div class="output">\n<b>\nbold</b>\n</div>' in page
    assert "assert" not in page


def test_a_claim_that_does_not_hold_fails(own):
    with pytest.raises(AssertionError):
        own("# %% [markdown]\n# # Title\n\n# %%\nx = 2\n\n# %% tags=[\"check\"]\nassert x == 3\n")


def test_a_page_is_made_again_when_its_source_changes(own):
    own("# %% [markdown]\n# # Title\n\n# %%\n1\n")
    assert notebooks.is_fresh("own")
    (notebooks.SOURCES / "own.py").write_text("# %% [markdown]\n# # Title\n\n# %%\n2\n")
    assert not notebooks.is_fresh("own")
