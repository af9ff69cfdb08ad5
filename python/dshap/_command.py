"""The command `dshap`, as `pip install dshap` brings it, and `python -m dshap`."""

from __future__ import annotations

import sys

from dshap._dshap import command


def main() -> int:
    """Carry out what was typed; returns the exit code."""
    return command(["dshap", *sys.argv[1:]])
