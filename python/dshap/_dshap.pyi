# The contents of the extension module; stubtest checks them against the binary.
import os
from collections.abc import Callable, Sequence
from typing import Any, final

from numpy import bool_, float64, int64
from numpy.typing import NDArray

__all__ = [
    "Spread",
    "Table",
    "Valuer",
    "__version__",
    "agreement",
    "baseline",
    "baseline_of_sets",
    "bounds",
    "catalogue",
    "cleaned",
    "command",
    "chance",
    "classification",
    "corrupted",
    "density",
    "detection",
    "drawn",
    "merged_means",
    "merged_part",
    "n_tests",
    "orders",
    "own_means",
    "owners",
    "owners_of_moments",
    "part_names",
    "part_of",
    "payout",
    "owners_page",
    "payout_by_file",
    "ranking",
    "regression",
    "report_page",
    "spelled",
    "suspects",
    "synergy",
    "task_of",
    "value_rows",
    "values_of_means",
    "values_page",
    "verify",
]

__version__: str

_Progress = Callable[[str, int, int, str], object]

_Curve = tuple[str, str, str, NDArray[int64], NDArray[float64]]

def suspects(
    table: Table,
    options: object,
    categorical: Sequence[str],
    others: Sequence[NDArray[float64]],
    n_jobs: int | None = None,
    progress: _Progress | None = None,
) -> dict[str, Any]: ...
def cleaned(
    table: Table,
    options: object,
    categorical: Sequence[str],
    others: Sequence[NDArray[float64]],
    n_jobs: int | None = None,
    progress: _Progress | None = None,
) -> dict[str, Any]: ...
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
def values_page(
    title: str,
    row: NDArray[int64],
    columns: Sequence[tuple[str, NDArray[float64] | Sequence[str | None]]],
    owner: Sequence[str] | None = None,
) -> str: ...
def report_page(
    table: Table,
    estimator: Any,
    categorical: Sequence[str],
    title: str,
    command: str,
    by: Sequence[str] | None = None,
    test: Table | None = None,
    is_population: bool = False,
    n_jobs: int | None = None,
    progress: _Progress | None = None,
) -> str: ...
def owners_page(title: str, found: str) -> str: ...
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
def baseline_of_sets(
    name: str,
    n_rows: int,
    worth: Callable[[NDArray[int64]], float],
    options: Any,
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
    columns: Sequence[NDArray[float64]],
    semivalue: str = "shapley",
    intercept: str = "known",
    n_jobs: int | None = None,
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
        is_population: bool = False,
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
    def explain_row(
        self,
        table: Table,
        row: int,
        m: int | None = None,
        q: int | None = None,
        leave_one_out: bool = False,
        n_jobs: int | None = None,
        progress: Any = None,
    ) -> tuple[str, list[str]]: ...
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
    def sum_errors(
        self,
        table: Table,
        group: list[int],
        n_groups: int,
        m: int | None = None,
        q: int | None = None,
        leave_one_out: bool = False,
        n_jobs: int | None = None,
    ) -> NDArray[float64] | None: ...
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

@final
class Spread:
    def __new__(
        cls,
        columns: Any,
        estimator: Any,
        features: Sequence[str],
        target: str | None = None,
        weight: str | None = None,
        by: str | None = None,
        categorical: Sequence[str] = ...,
        has_tests: bool = False,
    ) -> Spread: ...
    def next_pass(self) -> tuple[bytes, bytes | None, str, bool, bool] | None: ...
    def take(self, part: bytes, n_jobs: int | None = None) -> None: ...
    def finish(self) -> Valuer: ...

def part_of(
    plan: bytes,
    valuer: bytes | None,
    batches: Any,
    place: int,
    level: int | None = None,
    first_row: int = 0,
    n_jobs: int | None = None,
) -> bytes: ...
def merged_part(plan: bytes, parts: Sequence[bytes]) -> bytes: ...
def value_rows(
    valuer: Valuer,
    rows: Any,
    leave_one_out: bool = False,
    first_row: int | None = None,
    std_error: bool = False,
    parts: bool = True,
    n_jobs: int | None = None,
) -> dict[str, Any]: ...
def part_names(valuer: Valuer) -> list[str]: ...
def n_tests(valuer: Valuer) -> int: ...
def own_means(valuer: Valuer, start: int, end: int, n_jobs: int | None = None) -> NDArray[float64]: ...
def owners_of_moments(
    valuer: Valuer, options: object, test: Any, own: Any = None, n_jobs: int | None = None
) -> tuple[str, list[str]]: ...
def merged_means(parts: Sequence[NDArray[float64]]) -> NDArray[float64]: ...
def values_of_means(
    means: NDArray[float64], std_error: bool = False
) -> tuple[NDArray[float64], NDArray[float64] | None]: ...
