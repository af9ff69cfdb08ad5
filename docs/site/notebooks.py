"""Notebooks: small Python files in docs/notebooks, run into pages with their outputs and pictures.

A file has cells as Jupytext and editors know them: `# %% [markdown]` begins text, `# %%` begins code, and
`# %% tags=["check"]` begins code that pages leave out: what the text claims, as assertions.

    python docs/site/notebooks.py              runs those that have changed and whose packages are installed
    python docs/site/notebooks.py NAME ...     runs these

Each leaves a folder in target/notebooks: `page.md`, its pictures, the notebook for Jupyter (`NAME.ipynb`), and `key`, which
depends on what it was made from. The tests run all of them; `./docs/build` takes what they left, and runs what is missing.
"""

import ast
import contextlib
import hashlib
import html
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "docs" / "notebooks"

#: The package by which a notebook knows the environment that it is for; most draw pictures.
NEEDS = {"value_on_spark": "pyspark"}
USUAL_NEED = "matplotlib"

MARK = re.compile(r"^# %%(?P<rest>.*)$", re.M)


class Cell(NamedTuple):
    kind: str  # "markdown", "code" or "check"
    text: str
    line: int


def names():
    return sorted(path.stem for path in SOURCES.glob("*.py"))


def cells_of(source):
    """The cells of a notebook; what is above the first mark belongs to none."""
    marks = list(MARK.finditer(source))
    found = []
    for i, mark in enumerate(marks):
        end = marks[i + 1].start() if i + 1 < len(marks) else len(source)
        rest, text = mark["rest"].strip(), source[mark.end() : end].strip("\n")
        line = source[: mark.end()].count("\n") + 1 + len(source[mark.end() : end]) - len(source[mark.end() : end].lstrip("\n"))
        if rest == "[markdown]":
            lines = text.split("\n")
            if any(one and not one.startswith("#") for one in lines):
                raise ValueError(f"line {line}: text of a notebook begins with `# `")
            found.append(Cell("markdown", "\n".join(one.removeprefix("#").removeprefix(" ") for one in lines), line))
        elif rest in ("", 'tags=["check"]'):
            found.append(Cell("code" if rest == "" else "check", text, line))
        else:
            raise ValueError(f"line {line}: a cell is not `{rest}`")
    return found


def out_folder():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "notebooks"


def key(name):
    """What a page depends on: the notebook, this file and the installed package."""
    digest = hashlib.sha256()
    files = [SOURCES / f"{name}.py", Path(__file__)]
    package = importlib.util.find_spec("dshap")
    if package is not None:
        folder = Path(package.origin).parent
        files += sorted([*folder.rglob("*.py"), *folder.glob("_dshap*.so")])
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def can_run(name):
    return importlib.util.find_spec(NEEDS.get(name, USUAL_NEED)) is not None


def is_fresh(name):
    kept = out_folder() / name / "key"
    return kept.exists() and kept.read_text() == key(name)


def run(name):
    """Runs a notebook and leaves its page. An error of a cell is an error here."""
    path = SOURCES / f"{name}.py"
    cells = cells_of(path.read_text())
    scope = {"__name__": "__main__"}
    folder = out_folder() / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    parts, pictures = [], 0
    for cell in cells:
        if cell.kind == "markdown":
            parts.append(cell.text)
            continue
        text, shown = executed(cell, path, scope)
        if cell.kind == "check":
            continue
        parts.append(f"```python\n{cell.text}\n```")
        if text:
            parts.append(f"```text\n{text}\n```")
        if shown:
            parts.append(shown)
        for title, svg in figures():
            pictures += 1
            (folder / f"{name}-{pictures}.svg").write_text(svg)
            parts.append(f"![{title}]({name}-{pictures}.svg)")
    (folder / "page.md").write_text("\n\n".join(parts) + "\n")
    (folder / f"{name}.ipynb").write_text(json.dumps(as_jupyter(cells), indent=1) + "\n")
    (folder / "key").write_text(key(name))


def executed(cell, path, scope):
    """What a cell prints, and its last expression as HTML."""
    tree = ast.parse("\n" * (cell.line - 1) + cell.text, str(path))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, shown = io.StringIO(), ""
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda text, kind, *_: print(f"{kind.__name__}: {text}")
        exec(compile(tree, str(path), "exec"), scope)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(path), "eval"), scope)
            rich = value._repr_html_() if hasattr(value, "_repr_html_") else None
            if rich is not None:
                # One block of HTML for Markdown: no empty lines, no indentation.
                shown = "\n".join(line.strip() for line in rich.splitlines() if line.strip())
                shown = f'<div class="output">\n{shown}\n</div>'
            elif value is not None and not type(value).__module__.startswith("matplotlib"):
                print(value if isinstance(value, str) else repr(value))
    return printed.getvalue().rstrip(), shown


def figures():
    """Open figures of matplotlib as SVG, with their titles; then they are closed."""
    if "matplotlib.pyplot" not in sys.modules:
        return
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "dshap"
    for number in plt.get_fignums():
        figure = plt.figure(number)
        titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
        title = "; ".join(one for one in titles[:4] if one)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
        plt.close(figure)
        yield title.replace("\n", " "), buffer.getvalue()


def as_jupyter(cells):
    """The notebook for Jupyter, without outputs."""

    def cell(number, one):
        lines = one.text.splitlines(keepends=True)
        base = {"id": f"cell-{number}", "metadata": {}, "source": lines}
        if one.kind == "markdown":
            return {"cell_type": "markdown", **base}
        return {"cell_type": "code", "execution_count": None, "outputs": [], **base}

    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    shown = [one for one in cells if one.kind != "check"]
    return {
        "cells": [cell(number, one) for number, one in enumerate(shown)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def without_outputs(name):
    """The page of a notebook that could not be run: its text and its code."""
    parts = [one.text if one.kind == "markdown" else f"```python\n{one.text}\n```"
             for one in cells_of((SOURCES / f"{name}.py").read_text()) if one.kind != "check"]  # fmt: skip
    title, *rest = parts
    note = f"*This page was built without `{html.escape(NEEDS.get(name, USUAL_NEED))}`, so it has no outputs.*"
    return "\n\n".join([title, note, *rest]) + "\n"


def main(wanted):
    for name in wanted or names():
        if not wanted and (is_fresh(name) or not can_run(name)):
            continue
        if wanted:
            run(name)
        else:
            # Each by itself: no notebook sees what another has imported.
            subprocess.run([sys.executable, __file__, name], check=True, env={**os.environ, "MPLBACKEND": "agg"})


if __name__ == "__main__":
    main(sys.argv[1:])
