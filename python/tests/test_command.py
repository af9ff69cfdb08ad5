"""The command that the package installs is the program."""

import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = {
    "installed": [str(Path(sys.executable).with_name("dshap"))],
    "module": [sys.executable, "-m", "dshap"],
}


def run(entry, *words, **how):
    return subprocess.run([*entry, *words], capture_output=True, text=True, timeout=120, **how)


@pytest.fixture(params=COMMANDS)
def entry(request):
    return COMMANDS[request.param]


@pytest.fixture
def table(tmp_path):
    rows = "".join(f"{i % 7},{(i * i) % 11},{i % 7 + (i * 7) % 13 / 10}\n" for i in range(60))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    return tmp_path


def test_it_values_like_the_program(entry, binary, table):
    words = ["value", "t.csv", "--target", "y", "--task", "regression"]
    found, program = run(entry, *words, cwd=table), run([binary], *words, cwd=table)
    assert (found.returncode, found.stdout, found.stderr) == (0, program.stdout, program.stderr)
    assert len(found.stdout.splitlines()) == 61


def test_a_limit_on_memory_starts_it_once_more(entry, table):
    found = run(entry, "value", "t.csv", "--target", "y", "--memory", "200MB", "--quiet", cwd=table)
    assert (found.returncode, found.stderr) == (0, "")


def test_errors_have_the_same_exit_codes(entry, table):
    assert run(entry, "value", "none.csv", "--target", "y", cwd=table).returncode == 1
    wrong = run(entry, "value", "t.csv", "--wrong", cwd=table)
    assert wrong.returncode == 2
    assert "unexpected argument '--wrong'" in wrong.stderr
    version = run(entry, "--version")
    assert (version.returncode, version.stdout.split()[0]) == (0, "dshap")


def test_it_has_what_a_published_program_has(entry):
    assert "abalone" in run(entry, "dataset", "--list").stdout
