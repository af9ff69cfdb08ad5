"""Warnings that point at the user's line."""

from __future__ import annotations

import os
import sys
import warnings

OURS = os.path.dirname(__file__)


def warn(text: str, category: type[Warning]) -> None:
    """Warns with the line outside of this package that made the call."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, category, stacklevel=level)
