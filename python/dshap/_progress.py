"""Progress bars by tqdm."""

from __future__ import annotations

from typing import Any

from dshap._errors import DshapError


#: Units of stages that are not passes over bytes.
UNITS = {"drawing sets": "round", "smoothing": "part"}


class Bar:
    """A bar for each pass; the engine reports its progress."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise DshapError("progress=True needs tqdm: pip install tqdm") from None
        self._tqdm = tqdm
        self._stage: str | None = None
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self.close()
            unit = UNITS.get(stage)
            kind = {"unit": "B", "unit_scale": True} if unit is None else {"unit": unit}
            self._stage, self._bar = stage, self._tqdm(total=total, desc=stage, **kind)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
