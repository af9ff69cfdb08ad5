"""Rows without a target: the same bits as the command line, and the values of Theorem 5."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import assert_same_bits, column
from sklearn.base import clone
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dshap
from dshap import DensityValuer, DshapError, DshapWarning, InputError, InputTypeError, RegressionValuer

NAMES = ["a", "b", "c"]
PARTS = ["value", "log_density", "relative"]

#: Parameters, and the same as flags.
CASES = {
    "default": ({}, []),
    "m": ({"m": 50}, ["--m", 50]),
    "uniform": ({"kernel": "uniform"}, ["--kernel", "uniform"]),
    "epanechnikov": ({"kernel": "epanechnikov", "bandwidth": 0.8}, ["--kernel", "epanechnikov", "--bandwidth", 0.8]),
    "triangular": ({"kernel": "triangular"}, ["--kernel", "triangular"]),
    "scott": ({"bandwidth": "scott"}, ["--bandwidth", "scott"]),
    "silverman": ({"bandwidth": "silverman"}, ["--bandwidth", "silverman"]),
    "number": ({"bandwidth": 0.37}, ["--bandwidth", 0.37]),
    "no scale": ({"scale": "none"}, ["--scale", "none"]),
    "every row": ({"every_row": True, "bandwidth": 0.1}, ["--every-row", "--bandwidth", 0.1]),
    "sample": ({"samples": 150, "seed": 9}, ["--samples", 150, "--seed", 9]),
    "monte-carlo": (
        {"method": "monte-carlo", "bandwidth": "scott", "seed": 5},
        ["--method", "monte-carlo", "--bandwidth", "scott", "--seed", 5],
    ),
    "pca": ({"pca": 2}, ["--pca", 2]),
}


@pytest.fixture
def cells():
    rng = np.random.default_rng(4)
    X = np.vstack([rng.normal(size=(250, 3)), rng.normal(size=(150, 3)) * 0.3 + [2.0, 0.0, -2.0]])
    return rng.permutation(X) * [1.0, 30.0, 0.2] + [0.0, 5.0, -1.0]


def saved(X, path):
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=NAMES)
    frame.to_parquet(path)
    return path


def assert_same_parts(found, expected):
    for part in PARTS:
        if part in expected.column_names:
            assert_same_bits(getattr(found, part), column(expected, part))
        else:
            assert getattr(found, part) is None
    assert "value" in expected.column_names
    assert found.potential is None and found.per_class == {}


@pytest.mark.parametrize("case", CASES)
def test_rows_against_each_other(case, cells, tmp_path, values_by_command):
    params, flags = CASES[case]
    found = DensityValuer(**params).fit(cells).explain_training()
    assert_same_parts(found, values_by_command(saved(cells, tmp_path / "all.parquet"), "--task", "density", *flags))


@pytest.mark.parametrize("case", CASES)
def test_points_against_a_reference(case, cells, tmp_path, command, values_by_command):
    params, flags = CASES[case]
    frame, points = (pd.DataFrame(part, columns=NAMES) for part in (cells[:300], cells[300:]))
    reference, others = saved(frame, tmp_path / "reference.parquet"), saved(points, tmp_path / "points.parquet")
    valuer = DensityValuer(**params).fit(frame)
    expected = values_by_command(others, "--reference", reference, "--task", "density", *flags)
    assert_same_bits(valuer.value(points), column(expected, "value"))
    assert_same_parts(valuer.explain(points), expected)

    # Files go both ways, with the same bits.
    valuer.save(tmp_path / "own.dshap")
    by_own = values_by_command(others, "--valuer", tmp_path / "own.dshap")
    assert_same_bits(column(by_own, "value"), column(expected, "value"))
    command("fit", reference, "--task", "density", *flags, "-o", tmp_path / "cli.dshap", "--quiet")
    loaded = DensityValuer.load(tmp_path / "cli.dshap")
    assert_same_bits(loaded.value(points), column(expected, "value"))
    assert loaded.get_params() == valuer.get_params()
    assert loaded.bandwidth_ == valuer.bandwidth_ and loaded.rows_used_ == valuer.rows_used_
    assert_same_bits(loaded.bandwidth_curve_, valuer.bandwidth_curve_)
    assert_same_bits(loaded.fit(frame).value(points), column(expected, "value"))


@pytest.mark.parametrize("case", ["default", "uniform", "sample"])
def test_standard_errors(case, cells, tmp_path, values_by_command):
    params, flags = CASES[case]
    valuer = DensityValuer(**params).fit(cells)
    expected = values_by_command(saved(cells, tmp_path / "all.parquet"), "--task", "density", "--stderr", *flags)
    assert_same_bits(valuer.explain_training(std_error=True).stderr, column(expected, "stderr"))
    assert_same_bits(valuer.standard_errors(cells[:9]), valuer.explain(cells[:9], std_error=True).stderr)
    with pytest.raises(InputError, match="values by `method='monte-carlo'` have no standard errors"):
        DensityValuer("monte-carlo", bandwidth=0.5).fit(cells).standard_errors(cells)


@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_frames_with_text_and_missing_cells(missing, mixed, tmp_path, values_by_command):
    frame, _ = mixed
    frame = frame.drop(columns="size")
    path = saved(frame, tmp_path / "mixed.parquet")
    expected = values_by_command(path, "--task", "density", "--missing", missing)
    for X in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            valuer = DensityValuer(missing=missing).fit(X)
            found = valuer.explain_training()
        assert_same_parts(found, expected)
        if missing == "drop":
            assert any("missing cell" in str(warning.message) for warning in caught)
            assert found.note[5] == "missing cell" and np.isnan(found.value).sum() == 2 and valuer.n_rows_ == 598
    # Distances need every level, the first included.
    assert [name for name in valuer.columns_ if name.startswith("city")] == ["city=Lima", "city=Oslo", "city=Rome"]
    strange = frame.dropna().head(3).assign(city="Bonn")
    with pytest.raises(InputError, match="Bonn"):
        valuer.value(strange)
    lenient = DensityValuer(missing=missing, unseen="zero", bandwidth=0.5).fit(frame.dropna())
    assert np.isfinite(lenient.value(strange)).all()


def test_numbers_that_are_categories(mixed, tmp_path, values_by_command):
    frame, _ = mixed
    frame = frame[["floor", "new"]]
    expected = values_by_command(
        saved(frame, tmp_path / "floors.parquet"), "--task", "density", "--categorical", "floor", "--bandwidth", 0.4
    )
    valuer = DensityValuer(categorical=["floor"], bandwidth=0.4).fit(frame)
    assert_same_bits(valuer.value_training(), column(expected, "value"))
    valuer.save(tmp_path / "v.dshap")
    assert DensityValuer.load(tmp_path / "v.dshap").categorical == ["floor"]


def test_every_kind_of_table_has_the_same_values(cells):
    expected = DensityValuer(bandwidth=0.5).fit(cells)
    values, training = expected.value(cells[:50]), expected.value_training()
    kinds = [
        cells,
        np.asfortranarray(cells),
        cells.tolist(),
        pd.DataFrame(cells, columns=NAMES),
        pl.DataFrame(cells, schema=NAMES),
        pa.table(dict(zip(NAMES, cells.T))),
        pa.table(dict(zip(NAMES, cells.T))).to_batches()[0],
    ]
    for X in kinds:
        valuer = DensityValuer(bandwidth=0.5).fit(X)
        assert_same_bits(valuer.value(X[:50]), values)
        assert_same_bits(valuer.value_training(), training)
        has_names = not isinstance(X, (list, np.ndarray))
        assert valuer.n_features_in_ == 3 and hasattr(valuer, "feature_names_in_") == has_names
    frame = kinds[3].set_index(np.arange(400) + 1000)
    found = DensityValuer(bandwidth=0.5).fit(frame).value(frame[:50], as_frame=True)
    assert list(found.columns) == ["row", *PARTS, "note"] and found.index[0] == 1000
    assert isinstance(DensityValuer(bandwidth=0.5).fit(kinds[4]).value_training(as_frame=True), pl.DataFrame)


def by_hand(reference, points, h, m):
    """Theorem 5 with a Gaussian kernel, term by term: −A(k*k)(0) + (2A + B) mean k − B mean k*k."""
    j = np.arange(1, m + 1)
    A, B = (1 / j**2).sum() / m, (2 * (j - 1) / j**2).sum() / m
    d = reference.shape[1]
    d2 = ((points[:, None, :] - reference[None]) ** 2).sum(axis=2)

    def normal(d2, variance):
        return np.exp(-d2 / (2 * variance)) / (2 * np.pi * variance) ** (d / 2)

    plain, convolved = normal(d2, h**2).mean(axis=1), normal(d2, 2 * h**2).mean(axis=1)
    relative = (2 * A + B) * plain - B * convolved
    return relative - A * normal(0.0, 2 * h**2), relative, np.log(plain)


@pytest.mark.parametrize("scale", ["std", "none"])
def test_values_are_those_of_theorem_5(scale, cells):
    X = cells / [1.0, 30.0, 0.2]
    scaled = X if scale == "none" else (X - X.mean(axis=0)) / X.std(axis=0)
    valuer = DensityValuer(bandwidth=0.6, m=77, scale=scale).fit(X)
    found = valuer.explain(X[:40])
    value, relative, log_density = by_hand(scaled, scaled[:40], 0.6, 77)
    # Sums of 400 terms: about a hundred units in the last place, and 1e-12 that the tree may leave out.
    np.testing.assert_allclose(found.value, value, rtol=1e-10, atol=1e-12 * abs(value).max())
    np.testing.assert_allclose(found.relative, relative, rtol=1e-10, atol=1e-12 * abs(relative).max())
    np.testing.assert_allclose(found.log_density, log_density, rtol=1e-10)
    others = np.delete(scaled, 5, axis=0)
    alone = by_hand(others, scaled[5:6], 0.6, 77)
    assert valuer.value_training()[5] == pytest.approx(alone[0][0], rel=1e-9)
    assert_same_bits(valuer.value(X[:40], m=20), DensityValuer(bandwidth=0.6, m=20, scale=scale).fit(X).value(X[:40]))


def test_the_estimate_is_that_of_scikit_learn(cells):
    valuer = DensityValuer(bandwidth=0.4, scale="none").fit(cells / [1.0, 30.0, 0.2])
    other = KernelDensity(bandwidth=0.4).fit(cells / [1.0, 30.0, 0.2])
    points = cells[:60] / [1.0, 30.0, 0.2]
    np.testing.assert_allclose(valuer.explain(points).log_density, other.score_samples(points), rtol=1e-9)


def test_what_was_learned(cells):
    valuer = DensityValuer().fit(cells)
    curve = valuer.bandwidth_curve_
    assert curve.shape == (13, 2) and valuer.bandwidth_ == curve[curve[:, 1].argmax(), 0]
    assert (np.diff(curve[:, 0]) > 0).all()
    grid = DensityValuer(bandwidth="grid").fit(cells)
    np.testing.assert_allclose(grid.bandwidth_curve_[:, 0], np.logspace(-2, 1, 7), rtol=1e-12)
    assert {tuple(line) for line in grid.bandwidth_curve_} < {tuple(line) for line in curve}
    assert curve[:, 1].max() >= grid.bandwidth_curve_[:, 1].max()
    assert (valuer.n_rows_, valuer.rows_used_, valuer.p_, valuer.m_, valuer.log_unit_) == (400, 400, 3, 400, 0.0)
    assert valuer.columns_ == ["column_0", "column_1", "column_2"] and valuer.dropped_ == []
    given = DensityValuer(bandwidth=0.3).fit(cells)
    assert given.bandwidth_ == 0.3 and given.bandwidth_curve_.shape == (0, 2)
    sample = DensityValuer(samples=100, m=30).fit(cells)
    assert (sample.n_rows_, sample.rows_used_, sample.m_) == (400, 100, 30)
    with pytest.warns(DshapWarning, match="`c` is the same in every reference row"):
        constant = DensityValuer().fit(pd.DataFrame(cells, columns=NAMES).assign(c=3.0))
    assert constant.dropped_ == ["c"] and constant.p_ == 2


def test_targets_are_ignored(cells):
    plain = DensityValuer(bandwidth=0.5).fit(cells)
    for y in (np.arange(400), ["no", "numbers"], np.nan):
        assert_same_bits(DensityValuer(bandwidth=0.5).fit(cells, y).value(cells), plain.value(cells))
    for call in (plain.value, plain.explain, plain.standard_errors):
        with pytest.raises(TypeError):
            call(cells, np.arange(400))
    with pytest.raises(TypeError):
        plain.value(cells, q=5)


def test_the_sign_is_not_spoken_of(cells):
    found = DensityValuer().fit(cells).explain_training()
    assert "below 0" not in repr(found) and "log_density" in repr(found)
    assert "#d1495b" not in found._repr_html_()
    some = found[[3, 1]]
    assert_same_bits(some.relative, found.relative[[3, 1]])
    X, y = dshap.datasets.gaussian_r(50, 2)
    assert "below 0" in repr(RegressionValuer().fit(X, y).explain(X, y))


def test_parts_are_merged(cells, tmp_path, command, values_by_command):
    frame = pd.DataFrame(cells, columns=NAMES)
    for kernel in ("gaussian", "uniform"):
        parts = [DensityValuer(kernel=kernel).fit(frame[:150]), DensityValuer(kernel=kernel).fit(frame[150:])]
        whole = parts[0].merge(parts[1])
        for part, name in zip(parts, "xy"):
            part.save(tmp_path / f"{name}.dshap")
        command("merge", tmp_path / "x.dshap", tmp_path / "y.dshap", "-o", tmp_path / "m.dshap", "--quiet")
        expected = values_by_command(saved(frame, tmp_path / "all.parquet"), "--valuer", tmp_path / "m.dshap")
        assert_same_bits(whole.value(frame), column(expected, "value"))
        assert whole.n_rows_ == 400 and parts[0].n_rows_ == 150
        at_once = DensityValuer(kernel=kernel).fit(frame)
        assert whole.bandwidth_ == at_once.bandwidth_
        if kernel == "gaussian":
            # Rows are scaled back and forth, which costs the last digits.
            np.testing.assert_allclose(whole.value(frame), at_once.value(frame), rtol=1e-9, atol=1e-14)
    with pytest.raises(DshapError, match="rows of the reference were not kept"):
        whole.value_training()
    with pytest.raises(InputError, match="kernels are `uniform` and `gaussian`"):
        whole.merge(DensityValuer().fit(frame))
    with pytest.raises(DshapError, match="principal components.*\n.*leave out `pca`"):
        DensityValuer(pca=1).fit(frame).merge(DensityValuer(pca=1).fit(frame))
    with pytest.raises(InputTypeError, match="a RegressionValuer cannot be merged with a DensityValuer"):
        whole.merge(RegressionValuer().fit(*dshap.datasets.gaussian_r(100, 3)))
    assert not hasattr(whole, "partial_fit")


def test_pickles_clones_and_pipelines(cells):
    for method in ("closed", "monte-carlo"):
        valuer = DensityValuer(method, bandwidth=0.5, seed=3).fit(cells)
        twin = pickle.loads(pickle.dumps(valuer))
        assert_same_bits(twin.value(cells[:40]), valuer.value(cells[:40]))
        assert twin.get_params() == valuer.get_params() and twin.bandwidth_ == 0.5
        with pytest.raises(DshapError, match="not kept"):
            twin.value_training()
        fresh = clone(valuer)
        assert fresh.get_params() == valuer.get_params() and not hasattr(fresh, "bandwidth_")
    pipeline = make_pipeline(StandardScaler(), DensityValuer(scale="none")).fit(cells, np.zeros(400))
    plain = DensityValuer().fit(cells)
    # The scaler divides by the same deviations, up to rounding.
    np.testing.assert_allclose(pipeline[-1].value_training(), plain.value_training(), rtol=1e-6, atol=1e-12)


def test_the_number_of_threads_does_not_matter():
    X = np.random.default_rng(1).normal(size=(3000, 2))
    for kernel in ("gaussian", "triangular"):
        found = [DensityValuer(kernel=kernel, n_jobs=n).fit(X).value_training() for n in (1, 2, 3, None)]
        for other in found[1:]:
            assert_same_bits(found[0], other)


def test_rows_that_were_changed_are_noticed(cells):
    valuer = DensityValuer(bandwidth=0.5).fit(cells)
    before = valuer.value_training()
    # Means and spreads stay what they were.
    cells[[3, 4]] = cells[[4, 3]]
    with pytest.raises(InputError, match="have changed since they were fitted"):
        valuer.value_training()
    cells[[3, 4]] = cells[[4, 3]]
    assert_same_bits(valuer.value_training(), before)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"method": "gaussian"}, "`method` is 'gaussian'; expected 'closed' or 'monte-carlo'"),
        ({"kernel": "box"}, "`kernel` is 'box'; expected 'gaussian', 'uniform', 'epanechnikov' or"),
        ({"bandwidth": "0.3"}, "`bandwidth` is '0.3'; expected 'auto', 'grid', 'scott', 'silverman' or a number"),
        ({"bandwidth": True}, "`bandwidth` is True; expected"),
        ({"bandwidth": 0}, "`bandwidth` is 0; expected"),
        ({"bandwidth": float("nan")}, "`bandwidth` is nan; expected"),
        ({"bandwidth": 1e-6}, "no reference row is near another"),
        ({"scale": "max"}, "`scale` is 'max'; expected 'std' or 'none'"),
        ({"every_row": 3}, "`every_row` is 3; expected True or False"),
        ({"samples": 0}, "`samples` is 0; expected a whole number of at least 1"),
        ({"seed": -1}, "`seed` is -1; expected a whole number of at least 0"),
        ({"m": 0}, "`m` is 0; expected a whole number of at least 1"),
        ({"pca": 9}, "set `pca` to a number between 1 and 3"),
        ({"missing": "zero"}, "`missing` is 'zero'; expected"),
    ],
)
def test_parameters_that_make_no_sense(params, words, cells):
    with pytest.raises(InputError) as caught:
        DensityValuer(**params).fit(cells)
    assert words in str(caught.value) and "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((9, 2)), "no usable feature is left"),
        (np.ones((1, 2)), "one reference row is too few"),
        (np.arange(6.0).reshape(3, 2), "3 reference rows are too few.*\n.*`bandwidth='scott'`"),
        ([[1.0, np.nan]] * 9, "`X` row 0, column `column_1` has no value"),
        ([[1.0, np.inf]] * 9, "`X` row 0.*not finite"),
        (np.zeros((0, 2)), "0 sample"),
        (np.zeros(5), "Expected 2D array"),
        ([["a", "b"]] * 9, "text"),
    ],
)
def test_rows_that_cannot_be_smoothed(X, words):
    with pytest.raises(InputError, match=words) as caught:
        DensityValuer().fit(X)
    assert "--" not in str(caught.value)


def test_large_references_are_sampled_with_a_warning():
    X = np.random.default_rng(0).normal(size=(20_500, 1))
    with pytest.warns(DshapWarning, match="20500 rows.*against 20000 of them.*`samples` sets their number"):
        valuer = DensityValuer(bandwidth="scott").fit(X)
    assert (valuer.n_rows_, valuer.rows_used_, valuer.m_) == (20_500, 20_000, 20_500)


def test_files_of_another_task_are_refused(cells, tmp_path):
    DensityValuer(bandwidth=0.5).fit(cells).save(tmp_path / "d.dshap")
    with pytest.raises(InputError, match="holds a valuer for density; load it with DensityValuer.load"):
        RegressionValuer.load(tmp_path / "d.dshap")
    RegressionValuer().fit(*dshap.datasets.gaussian_r(100, 3)).save(tmp_path / "r.dshap")
    with pytest.raises(InputError, match="holds a valuer for regression; load it with RegressionValuer.load"):
        DensityValuer.load(tmp_path / "r.dshap")
