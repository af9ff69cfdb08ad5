# The contents of the extension module; stubtest checks them against the binary.
import os
from collections.abc import Callable, Sequence
from typing import Any, final

from numpy import bool_, float64, int64
from numpy.typing import NDArray

__all__ = [
    "Table",
    "Valuer",
    "__version__",
    "agreement",
    "baseline",
    "bounds",
    "catalogue",
    "command",
    "chance",
    "classification",
    "corrupted",
    "density",
    "detection",
    "drawn",
    "orders",
    "owners",
    "payout",
    "payout_by_file",
    "ranking",
    "regression",
    "spelled",
    "synergy",
    "task_of",
    "verify",
]

__version__: str

_Progress = Callable[[str, int, int], object]

_Curve = tuple[str, str, str, NDArray[int64], NDArray[float64]]

def owners(
    table: Table,
    by: Sequence[str],
    options: object,
    categorical: Sequence[str],
    method: str | None = None,
    test: Table | None = None,
    own: Table | None = None,
    n_jobs: int | None = None,
    progress: _Progress | None = None,
) -> tuple[str, list[str]]: ...
def payout(
    owners: Sequence[tuple[str, int | None, float, float | None]],
    covariance: Sequence[Sequence[float]] | None,
    options: object,
) -> tuple[str, list[str]]: ...
def payout_by_file(
    file: str,
    by: str | None,
    options: object,
    manifest: str | os.PathLike[str] | None = None,
) -> tuple[str, list[str]]: ...
def verify(file: str | os.PathLike[str]) -> list[tuple[str, bool]]: ...
def baseline(
    name: str,
    table: Table,
    options: Any,
    categorical: Sequence[str],
    reference: Table | None = None,
    test: Table | None = None,
    n_jobs: int | None = None,
    progress: _Progress | None = None,
) -> dict[str, Any]: ...
def catalogue() -> str: ...
def command(words: list[str]) -> int: ...
def chance(n_rows: int, seed: int) -> NDArray[float64]: ...
def task_of(table: Table) -> str: ...
def orders(
    table: Table,
    test: Table,
    options: Any,
    categorical: Sequence[str],
    experiment: str,
    values: Sequence[tuple[str, NDArray[float64]]],
    repeats: int,
    n_jobs: int | None = None,
    progress: _Progress | None = None,
) -> dict[str, Any]: ...
def detection(
    value: NDArray[float64], is_wrong: NDArray[bool_]
) -> tuple[float, float, NDArray[float64]] | None: ...
def corrupted(
    y: NDArray[float64], share: float, seed: int, n_classes: int | None = None
) -> tuple[NDArray[float64], NDArray[bool_]]: ...
def agreement(
    one: NDArray[float64], other: NDArray[float64], top: int
) -> tuple[float | None, float | None, float | None]: ...
def drawn(title: str, curves: Sequence[_Curve], whole: float) -> str: ...
def regression(
    columns: Sequence[NDArray[float64]], semivalue: str = "shapley", n_jobs: int | None = None
) -> list[NDArray[float64]]: ...
def classification(columns: Sequence[NDArray[float64]], n_jobs: int | None = None) -> list[NDArray[float64]]: ...
def bounds(columns: Sequence[NDArray[float64]], n_jobs: int | None = None) -> list[NDArray[float64]]: ...
def density(
    reference: NDArray[float64],
    points: NDArray[float64],
    kernel: str,
    bandwidth: float,
    m: int,
    as_set: bool = False,
    n_jobs: int | None = None,
) -> NDArray[float64]: ...
def synergy(
    columns: Sequence[NDArray[float64]], border: bool = False, n_jobs: int | None = None
) -> list[NDArray[float64]]: ...
def ranking(value: NDArray[float64], relative: NDArray[float64] | None = None) -> NDArray[int64]: ...
def spelled(words: Sequence[str]) -> list[str]: ...
@final
class Table:
    @staticmethod
    def of_arrays(
        arrays: Sequence[NDArray[Any]],
        names: Sequence[str],
        y: NDArray[Any] | None = None,
        target: str | None = None,
        weights: NDArray[Any] | None = None,
        labels: str | None = None,
    ) -> Table | None: ...
    @staticmethod
    def of_arrow(
        features: Any,
        y: NDArray[Any] | None = None,
        target: str | None = None,
        weights: NDArray[float64] | None = None,
        names: Sequence[str] | None = None,
        labels: str | None = None,
    ) -> Table: ...
    def __len__(self) -> int: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def target(self) -> str | None: ...

@final
class Valuer:
    @staticmethod
    def fit(
        table: Table,
        estimator: Any,
        categorical: Sequence[str],
        has_names: bool,
        is_kept: bool,
        n_jobs: int | None = None,
        progress: _Progress | None = None,
        test: Table | None = None,
    ) -> Valuer: ...
    def updated(
        self,
        table: Table,
        m: int | None = None,
        q: int | None = None,
        n_jobs: int | None = None,
        progress: _Progress | None = None,
    ) -> Valuer: ...
    def merged(
        self, others: Sequence[Valuer], n_jobs: int | None = None, progress: _Progress | None = None
    ) -> Valuer: ...
    def value_arrays(
        self, features: NDArray[Any], y: NDArray[Any], n_jobs: int | None = None
    ) -> NDArray[float64] | None: ...
    def value_table(
        self,
        table: Table,
        m: int | None = None,
        q: int | None = None,
        leave_one_out: bool = False,
        std_error: bool = False,
        parts: bool = True,
        n_jobs: int | None = None,
        progress: _Progress | None = None,
    ) -> dict[str, Any]: ...
    def facts(self) -> dict[str, Any]: ...
    @property
    def task(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def params(self) -> dict[str, Any]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Valuer: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Valuer: ...
