"""Helpers that the tests share: data, and the command line to compare with."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import dshap

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def binary():
    """The program `dshap`."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = Path(os.environ.get("DSHAP_BINARY", target / "debug" / "dshap")).resolve()
    if not binary.exists():
        pytest.fail(f"{binary} does not exist; `./test python` builds it")
    return binary


@pytest.fixture(scope="session")
def command(binary):
    """Runs `dshap` with these arguments; fails unless it succeeds."""

    def run(*words):
        done = subprocess.run([binary, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def values_by_command(command, tmp_path):
    """Values by `dshap value`, as columns of doubles."""

    def run(*words):
        out = tmp_path / "out.parquet"
        command("value", *words, "--quiet", "-o", out)
        return pa.parquet.read_table(out)

    return run


@pytest.fixture
def rows():
    X, y = dshap.datasets.gaussian_r(700, 4, seed=3)
    return X * [1.0, 3.0, 0.5, 2.0] + [0.0, 5.0, -1.0, 100.0], y + 7.0


@pytest.fixture
def mixed():
    """A frame with numbers, text, categories, booleans and missing cells, and its target."""
    rng = np.random.default_rng(11)
    n = 600
    city = rng.choice(["Rome", "Oslo", "Lima"], n)
    size = rng.integers(1, 4, n)
    frame = pd.DataFrame(
        {
            "area": rng.gamma(5.0, 20.0, n),
            "city": city,
            "new": rng.random(n) < 0.3,
            "size": pd.Categorical(size),
            "floor": rng.integers(0, 9, n),
        }
    )
    y = 0.1 * frame["area"] + 3.0 * (city == "Oslo") + size + rng.standard_normal(n)
    frame.loc[[5, 40], "area"] = np.nan
    return frame, y.rename("price")


def column(table, name):
    """A column of a pyarrow table as a NumPy array, with NaN for null."""
    return table[name].to_numpy(zero_copy_only=False).astype(float)


def assert_same_bits(left, right):
    left, right = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    assert left.shape == right.shape
    different = np.flatnonzero((left.view(np.int64) != right.view(np.int64)) & ~(np.isnan(left) & np.isnan(right)))
    assert different.size == 0, (
        f"{different.size} of {left.size} differ, first in row {different[0]}: "
        f"{left[different[0]]!r} and {right[different[0]]!r}"
    )


def reference(name):
    return json.loads((ROOT / "testdata" / "reference" / f"{name}.json").read_text())["cases"]
