"""Pages of the site that are made while it is built.

- Documents of the repository's root (README and its neighbours).
- Methods and commands, from `dshap methods --json`: the catalogue that the program itself is made from. What it says
  about a method is put below the page of docs/methods/ that people wrote.
- The Python package, from its docstrings.
- Notebooks, as `notebooks.py` beside this file left them in target/notebooks.

It also puts a copy of the one script that the theme would load from another host beside the pages, so that the search
works in a folder without a network. mkdocs calls the functions that begin with `on_`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
import notebooks  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

# Documents outside docs/, and what they are called on the site.
ROOT_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}

# In place, `](target)`, or as a line at the end, `[name]: target`.
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )([^)#\s]+)(#[^)\s]*)?(\)|$)", flags=re.M)

# The script with which the search works in pages that are opened from a folder.
SHIM_ADDRESS = "https://unpkg.com/iframe-worker/shim"
SHIM = "assets/javascripts/iframe-worker.js"

# What the reference shows of each module, beside what the package itself exports.
PYTHON_MODULES = ["baselines", "evaluate", "formula", "datasets"]


# Page of a method, and what the catalogue says about it.
METHODS = {}


def method_file(method):
    return f"methods/{method['name']}.md"


def on_files(files, config):
    catalogue = json.loads(run_dshap("methods", "--json"))
    made = {
        "reference/methods.md": methods_page(catalogue),
        "reference/commands.md": commands_page(catalogue),
        "reference/python.md": python_page(),
    }
    for source, page in ROOT_PAGES.items():
        made[page] = (ROOT / source).read_text()
    for name in notebooks.names():
        made |= notebook_files(name)
    missing = [method["name"] for method in catalogue["methods"] if files.get_file_from_path(method_file(method)) is None]
    if missing:
        raise RuntimeError(f"docs/methods/ has no page for {', '.join(missing)}")
    options = {option["name"]: option for option in catalogue["options"]}
    METHODS.update((method_file(method), "\n".join(method_section(method, options))) for method in catalogue["methods"])
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def notebook_files(name):
    """The page of a notebook, its pictures, and the notebook to open in Jupyter."""
    folder = notebooks.out_folder() / name
    if not notebooks.is_fresh(name):
        if notebooks.can_run(name):
            raise RuntimeError(f"the notebook {name} has not been run; ./docs/build runs it")
        return {f"notebooks/{name}.md": notebooks.without_outputs(name)}
    page = (folder / "page.md").read_text()
    title, _, rest = page.partition("\n")
    links = f"[Open in Jupyter]({name}.ipynb) · [source]({name}.py)"
    found = {f"notebooks/{name}.md": f"{title}\n\n{links}\n{rest}"}
    for file in folder.iterdir():
        if file.suffix in (".svg", ".ipynb"):
            found[f"notebooks/{file.name}"] = file.read_text()
    return found


def on_page_markdown(markdown, page, config, files):
    """Turns links between documents of the repository into links between pages; code is shown in the repository."""
    source = next((Path(name) for name, made in ROOT_PAGES.items() if made == page.file.src_uri), None)
    folder = Path() if source else Path("docs", page.file.src_uri).parent
    here = Path(page.file.src_uri).parent
    home = config["extra"]["code_url"] + "/"
    if page.file.src_uri in METHODS:
        markdown = f"{markdown}\n## In the catalogue\n\n{METHODS[page.file.src_uri]}\n"

    def linked(match):
        begin, target, anchor, end = match.group(1), match.group(2), match.group(3) or "", match.group(4)
        at_home = target.startswith(home)
        if not at_home and ("://" in target or target.startswith("mailto:")):
            return match.group(0)
        path = target.removeprefix(home) if at_home else os.path.normpath(folder / target)
        if path.startswith("docs/notebooks/") and not page.file.src_uri.startswith("notebooks/"):
            path = str(Path(path).with_suffix(".md"))
        if path in ROOT_PAGES:
            target = os.path.relpath(ROOT_PAGES[path], here)
        elif path.startswith("docs/") and files.get_file_from_path(path.removeprefix("docs/")):
            target = os.path.relpath(path.removeprefix("docs/"), here)
        elif not path.startswith("docs/") and (ROOT / path).exists():
            target = home + path
        return f"{begin}{target}{anchor}{end}"

    return LINK.sub(linked, markdown)


def on_post_page(output, page, config):
    return output.replace(SHIM_ADDRESS, os.path.relpath(SHIM, Path(page.file.dest_uri).parent))


def on_post_template(output_content, template_name, config):
    return output_content.replace(SHIM_ADDRESS, SHIM)


def on_post_build(config):
    shutil.copy(os.environ["DSHAP_SEARCH_SHIM"], Path(config["site_dir"], SHIM))


def run_dshap(*arguments):
    command = [os.environ["DSHAP_BINARY"], *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def flag(name):
    return "--" + name.replace("_", "-")


def spelled(text):
    """`{metric=cosine}` as the command line writes it."""
    return re.sub(r"\{(\w+)=([^}]*)\}", lambda m: f"`{flag(m[1])} {m[2]}`",
                  re.sub(r"\{(\w+)\}", lambda m: f"`{flag(m[1])}`", text))


def plain(text):
    """As `spelled`, for a block of code."""
    return spelled(text).replace("`", "")


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def methods_page(catalogue):
    lines = ["# Methods", "", "Each page has the formula, assumptions, cost and accuracy of a method, and its options.", "",
             "| method | tasks | in one line |", "|---|---|---|"]
    for method in catalogue["methods"]:
        name = method["name"]
        lines.append(f"| [`{name}`](../{method_file(method)}) | {', '.join(method['tasks'])} | {cell(spelled(method['summary']))} |")
    return "\n".join(lines) + "\n"


def method_section(method, options):
    valuers = "cannot be saved"
    if "Ok" in method["saved"]:
        changes = [(word, method[key]) for word, key in (("updated", "updates"), ("merged", "merges")) if method[key]]
        valuers = "can be saved" + "".join(f" and {word} ({', '.join(tasks)})" for word, tasks in changes)
    parts = "; ".join(f"{case}: {', '.join(f'`{name}`' for name in names)}" for case, names in method["parts"].items())
    page = method["page"]
    facts = [
        ("tasks", ", ".join(method["tasks"])),
        ("assumes", method["assumes"]),
        ("parts of a value", parts or "none"),
        ("standard errors", method["std_errors"] or "none"),
        ("passes", method["passes"]),
        ("valuers", valuers),
        ("source", method["source"]),
        ("more", f"[{Path(page).stem}](../{Path(page).relative_to('docs')})"),
    ]
    yield spelled(method["about"])
    yield ""
    yield "```console"
    yield f"$ dshap {plain(method['example'])}"
    yield "```"
    yield ""
    yield "| | |"
    yield "|---|---|"
    for name, text in facts:
        yield f"| {name} | {cell(spelled(text))} |"
    yield ""
    yield "| option | meaning | default |"
    yield "|---|---|---|"
    for taken in method["options"]:
        option = options[taken["option"]]
        meaning = taken["role"] or option["help"]
        meaning = meaning[:1].upper() + meaning[1:]
        if set(taken["tasks"]) != set(method["tasks"]):
            meaning += f" ({', '.join(taken['tasks'])})"
        default = str(taken["default"] or option["default"])
        yield f"| `{flag(option['name'])}` | {cell(spelled(meaning))} | {cell(spelled(default))} |"


def commands_page(catalogue):
    options = {option["name"]: option for option in catalogue["options"]}
    lines = ["# Commands", "", "Made from the catalogue, as `dshap COMMAND --help` shows it.", "",
             "| command | in one line |", "|---|---|"]
    for command in catalogue["commands"]:
        lines.append(f"| [`{command['name']}`](#{command['name']}) | {cell(spelled(command['help']))} |")
    for command in catalogue["commands"]:
        lines += ["", *command_section(command, options)]
    return "\n".join(lines) + "\n"


def command_section(command, options):
    positional = [argument for argument in command["arguments"] if argument["positional"]]
    usage = " ".join(
        argument["placeholder"] if argument["required"] else f"[{argument['placeholder']}]" for argument in positional
    )
    yield f"## {command['name']}"
    yield ""
    yield spelled(command["help"]) + "."
    yield ""
    yield "```console"
    yield f"$ dshap {command['name']} {usage}".rstrip()
    yield "```"
    rows = [(argument["placeholder"] if argument["positional"] else flag(argument["name"]), argument["help"], "")
            for argument in command["arguments"]]
    for name in command["options"]:
        option = options[name]
        several = "; repeat for several files" if option["kind"] == "files" else ""
        meaning = " ".join(text for text in (option["help"] + several + ".", option["details"]) if text)
        if "words" in option:
            words = "; ".join(f"`{word['word']}`: {word['means']}" for word in option["words"])
            meaning += f" {words}."
        value = "" if option["kind"] == "switch" else f" {option['placeholder']}"
        rows.append((flag(name) + value, meaning, str(option["default"])))
    if not rows:
        return
    yield ""
    yield "| option | meaning | default |"
    yield "|---|---|---|"
    for name, meaning, default in rows:
        yield f"| `{cell(name)}` | {cell(spelled(meaning))} | {cell(spelled(default))} |"


def python_page():
    exported = re.search(r"__all__ = \[(.*?)\]", (ROOT / "python/dshap/__init__.py").read_text(), re.S)
    names = re.findall(r'"(\w+)"', exported.group(1))
    lines = ["# Python", "", "Made from the docstrings of the package. [The guide](../python.md) shows how it is used.", ""]
    for name in sorted(names, key=str.lower):
        if name not in PYTHON_MODULES and not name.startswith("__"):
            lines += [f"::: dshap.{name}", ""]
    for module in PYTHON_MODULES:
        lines += [f"## dshap.{module}", "", f"::: dshap.{module}", "    options:", "      show_root_heading: false", ""]
    return "\n".join(lines)
