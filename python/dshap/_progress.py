"""Progress bars by tqdm."""

from __future__ import annotations

from typing import Any

from dshap._errors import DshapError


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

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        if stage != self._stage:
            self.close()
            self._stage, self._bar = stage, self._tqdm(desc=stage, unit=unit, unit_scale=unit == "row")
        # How many rows there are is known once the first ones are done.
        self._bar.total = total or None
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
