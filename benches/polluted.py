"""Text tables with one thing wrong: what dshap reads of them, beside DuckDB's sniffer with its own defaults."""

import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import duckdb


def polluted():
    with tempfile.TemporaryDirectory() as folder:
        command = ["cargo", "run", "--release", "--quiet", "-p", "dshap-io", "--example", "polluted", "--", folder]
        subprocess.run(command, check=True)
        files = json.loads((Path(folder) / "meant.json").read_text())
        ours = Counter(file["dshap"] for file in files)
        theirs = Counter(by_duckdb(Path(folder) / f"{file['name']}.csv", file) for file in files)
    print("## Polluted files\n")
    print(f"{len(files)} text tables that differ from a clean one in one delimiter, quote, escape, line end, header,")
    print("preamble or encoding (`crates/testkit/src/polluted.rs`), read by dshap and by DuckDB's `read_csv` with its own")
    print(f"defaults (duckdb {duckdb.__version__}). Right: names, types and all cells are those that were meant.\n")
    print("| | right | refused | otherwise, with a warning | otherwise, in silence |")
    print("|---|---|---|---|---|")
    for name, found in [("dshap", ours), ("DuckDB", theirs)]:
        print(f"| {name} | {found['Right']} | {found['Refused']} | {found['Warned']} | {found['Wrong']} |")
    print()


def by_duckdb(path, file):
    try:
        table = duckdb.sql(f"SELECT * FROM read_csv('{path}')")
        names, rows = table.columns, table.fetchall()
    except duckdb.Error:
        return "Refused"
    # A table without a header: DuckDB numbers columns from 0, dshap from 1.
    names = [f"column_{i + 1}" for i in range(len(names))] if names == numbered(len(names)) else names
    if list(names) != file["names"] or len(rows) != len(file["rows"]):
        return "Wrong"
    for column in range(len(names)):
        meant, found = [row[column] for row in file["rows"]], [row[column] for row in rows]
        if not same(meant, found):
            return "Wrong"
    return "Right"


def numbered(n):
    return [f"column{i:0{len(str(n - 1))}d}" for i in range(n)]


def same(meant, found):
    """Numbers as numbers, text as text, as for dshap."""
    try:
        meant = [float(cell) for cell in meant]
    except ValueError:
        return meant == found
    return not any(isinstance(cell, str) or cell is None for cell in found) and meant == [float(cell) for cell in found]
