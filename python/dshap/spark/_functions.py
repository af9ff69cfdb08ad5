"""`fit`, `value` and `owners` of DataFrames, as plain functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from pyspark.sql import functions as F

from dshap import _checks, _dshap, _spread
from dshap._errors import InputError, InputTypeError
from dshap._owners import OWNERS_DEFAULTS, Owners, _spelled
from dshap._sets import issue
from dshap._spread import Pass, Roles
from dshap.spark._columns import check_numbers, quoted, selected, settled, types_of
from dshap.spark._jobs import Rows
from dshap.spark._values import Wanted, appended

#: Labels that a target has at most if it holds two values.
TWO = 2


def fit(
    df: Any,
    target: str | None = None,
    *,
    task: str | None = None,
    features: str | Sequence[str] | None = None,
    weight: str | None = None,
    owner: str | None = None,
    exclude: Sequence[str] = (),
    row: str | None = None,
    test: Any = None,
    n_jobs: int | None = 1,
    **params: Any,
) -> Any:
    """Fit the rows of a DataFrame.

    Parameters
    ----------
    df : DataFrame
        The reference.
    target : str, optional
        The column that is predicted; without one, a density is estimated.
    task : {'regression', 'classification', 'density'}, optional
        Guessed from the target: classification if it is text, boolean or has two values.
    features : str or list of str, optional
        A column of vectors or arrays, or single columns. By default all columns without another role.
    weight, owner : str, optional
        Columns of weights and of owners. With owners, the valuer keeps the moments of each.
    exclude : list of str
        Columns that are no features, such as an id.
    row : str, optional
        A column that numbers the rows 0, 1, 2 and so on. It fixes the order of the rows, so that the result has the
        bits of one machine; rows are shuffled for it.
    test : DataFrame, optional
        For nearest neighbours: rows that the nearest rows predict.
    n_jobs : int, optional
        Threads of a task. One, unless tasks have more cores (`spark.task.cpus`).
    **params
        Parameters of the estimator, such as `method` and `m`.

    Returns
    -------
    RegressionValuer, ClassificationValuer or DensityValuer
        Of `dshap` itself, fitted: `value`, `save` and pickling work as ever.
    """
    check_numbers(df, row)
    task = task_of(df, target, task)
    roles = settled(df, features, target, weight, owner, [*exclude, row])
    estimator = estimator_of(task, params)
    rows = Rows(df, roles, row, _checks.threads(n_jobs))
    tests = None
    if test is not None:
        tests = Rows(test, settled(test, features if features is not None else list(roles.features), target), None, n_jobs)

    def run(waiting: Pass) -> bytes:
        return tests.part(waiting) if waiting.of_tests and tests is not None else rows.part(waiting)

    valuer = _spread.fit(estimator, roles, types_of(df, roles), run, has_tests=tests is not None)
    valuer._numbered_by = row
    return valuer


def estimator_of(task: str, params: dict[str, Any]) -> Any:
    """An estimator of this package with these parameters."""
    kind = _spread.VALUERS[task]
    unknown = sorted(set(params) - set(kind._DEFAULTS))
    if unknown:
        raise InputTypeError(f"`{unknown[0]}` is not a parameter of {kind.__name__}")
    return kind(**params)


def task_of(df: Any, target: str | None, task: str | None) -> str:
    """The task, as given or as the target asks for."""
    if task is not None:
        if task not in _spread.VALUERS:
            raise InputError(f"`task` is {task!r}; expected 'regression', 'classification', 'density' or None")
        return task
    if target is None:
        return "density"
    if target not in df.columns:
        raise InputError(f"there is no column `{target}`; the DataFrame has {', '.join(df.columns[:20])}")
    kind = df.schema[target].dataType.typeName()
    if kind in ("string", "boolean", "varchar", "char"):
        return "classification"
    found = df.select(quoted(target)).where(F.col(quoted(target)).isNotNull()).distinct().limit(TWO + 1).collect()
    return "classification" if len(found) == TWO else "regression"


def value(
    df: Any,
    valuer: Any,
    *,
    leave_one_out: bool = False,
    features: str | Sequence[str] | None = None,
    row: str | None = None,
    value_col: str = "value",
    std_error: bool = False,
    parts: bool = False,
    n_jobs: int | None = 1,
) -> Any:
    """Append the values of rows.

    Parameters
    ----------
    df : DataFrame
        With the columns of the reference. Columns of features may be given as one column, `features`.
    valuer : fitted estimator of dshap, or path
        As `fit` returns it, or a `.dshap` file.
    leave_one_out : bool
        The rows are the reference: each is valued against the others.
    features : str or list of str, optional
        A column of vectors or arrays that holds the features.
    row : str, optional
        The column that numbered the rows of the reference. Leave-one-out values of densities and nearest neighbours
        need it.
    value_col : str
        The name of the column of values.
    std_error, parts : bool
        Also append standard errors; what explains the values, and why rows have none.
    n_jobs : int, optional
        Threads of a task.

    Returns
    -------
    DataFrame
        The same rows and columns, and the value columns. Nothing is computed before it is used.
    """
    valuer = opened(valuer)
    check_numbers(df, row)
    facts = valuer._fitted.facts()
    names = list(facts["features"])
    roles = settled(df, features if features is not None else names, facts["target"])
    if list(roles.features) != names and roles.array is None:
        raise InputError("the features are not those of the valuer, in their order")
    if roles.array is not None:
        if len(roles.features) != len(names):
            raise InputError(f"column `{roles.array[0]}` holds {len(roles.features)} features; the valuer has {len(names)}")
        roles = roles._replace(features=tuple(names))
    wanted = Wanted(value_col, _checks.flag("std_error", std_error), _checks.flag("parts", parts))
    return appended(Rows(df, roles, row, _checks.threads(n_jobs)), valuer, wanted, leave_one_out=leave_one_out)


def opened(valuer: Any) -> Any:
    """A fitted estimator, or the one in a file."""
    if isinstance(valuer, (str, bytes)) or hasattr(valuer, "__fspath__"):
        with open(_checks.path(valuer), "rb") as file:
            return _spread.load(file.read())
    valuer._check()
    return valuer


def owners(
    df: Any,
    by: str,
    *,
    target: str,
    test: Any,
    own: Any = None,
    features: str | Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    row: str | None = None,
    ridge: float | None = None,
    n_jobs: int | None = 1,
    **params: Any,
) -> Owners:
    """What each owner's rows bring to a regression, given the others and what the buyer has.

    The moments of each owner are summed where the rows are; the game between owners is played on the driver.

    Parameters
    ----------
    df : DataFrame
        The rows of all owners.
    by : str
        The column that names the owner of a row.
    target : str
        The column of numbers that is predicted.
    test : DataFrame, or anything with Arrow data
        Rows that measure. They are read on the driver.
    own : the same, optional
        Rows that the buyer has already.
    features, exclude, row, n_jobs, **params
        As for `fit`.
    ridge : float, optional
        The penalty of every model; by default the one with which each owner is predicted best from the others.

    Returns
    -------
    dshap.Owners
        As `dshap owners VALUER --test FILE`, with the sums of row values.
    """
    valuer = fit(
        df, target, task="regression", features=features, owner=by, exclude=exclude, row=row, n_jobs=n_jobs, **params
    )
    options = SimpleNamespace(_DEFAULTS=OWNERS_DEFAULTS, **{**OWNERS_DEFAULTS, "ridge": ridge})
    roles = settled(df, features, target, None, by, [*exclude, row])
    found, warnings = _dshap.owners_of_moments(
        valuer._fitted, options, local(test, roles), None if own is None else local(own, roles)
    )
    issue(warnings)
    report = json.loads(found)
    sums = row_sums(df, valuer, by, row, n_jobs, None if roles.array is None else roles.array[0])
    for line in report["owners"]:
        line.update(sums.get(line["owner"], {}))
    return Owners(report)


def local(rows: Any, roles: Roles) -> Any:
    """Features and target of rows, on the driver. A column of arrays becomes one column for each feature."""
    if hasattr(rows, "mapInArrow"):
        rows = selected(rows, roles.read(for_fit=False)).toArrow()
    if roles.array is None:
        return rows
    import pyarrow as pa

    table = rows if isinstance(rows, pa.Table) else pa.table(rows)
    array, length = roles.array
    if array not in table.column_names:
        return table
    cells = np.array(table.column(array).to_pylist(), dtype=np.float64)
    if cells.shape != (len(table), length):
        raise InputError(f"column `{array}` of the test rows does not hold {length} numbers in every row")
    features = {name: cells[:, j] for j, name in enumerate(roles.features)}
    return pa.table({**features, str(roles.target): table.column(str(roles.target))})


def row_sums(
    df: Any, valuer: Any, by: str, row: str | None, n_jobs: int | None, features: str | None = None
) -> dict[str, dict[str, float]]:
    """Sum and mean of the values of each owner's rows, and the share below zero."""
    values = value(df, valuer, leave_one_out=True, features=features, row=row, value_col="__dshap_value", n_jobs=n_jobs)
    cells = F.col("__dshap_value")
    sums = values.where(cells.isNotNull() & F.col(quoted(by)).isNotNull()).groupBy(F.col(quoted(by)).alias("owner"))
    lines = sums.agg(
        F.sum(cells).alias("total"), F.count(cells).alias("n"), F.sum((cells < 0).cast("long")).alias("below")
    ).collect()
    # Several cells may spell one owner: `1` and `1.0`.
    totals: dict[str, list[float]] = {}
    for line in lines:
        name = engine_name(line["owner"])
        if name:
            have = totals.setdefault(name, [0.0, 0.0, 0.0])
            for place, column in enumerate(("total", "n", "below")):
                have[place] += line[column]
    return {
        name: {"row_sum": total, "row_mean": total / n, "below_zero": below / n} for name, (total, n, below) in totals.items()
    }


def engine_name(owner: Any) -> str:
    """The name of an owner as the engine spells it; nothing if the cell is empty."""
    return _dshap.spelled([_spelled(owner)])[0]
