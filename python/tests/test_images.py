"""The recipe for features of images, on random images with a small network of random weights."""

import csv
import importlib.util
from pathlib import Path

import numpy as np
import pytest

RECIPE = Path(__file__).parents[2] / "docs" / "recipes" / "image_features.py"


@pytest.fixture
def recipe():
    spec = importlib.util.spec_from_file_location("image_features", RECIPE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def network(rng, n_features=48):
    """A convolution, a rectifier, means over the image, and a layer."""
    kernels, layer = rng.normal(size=(64, 3, 3)), rng.normal(size=(64, n_features))

    def penultimate(images):
        windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
        return np.maximum(np.einsum("nijab,kab->nijk", windows, kernels), 0).mean(axis=(1, 2)) @ layer

    return penultimate


def batches(rng, n, size=50):
    """Random images, brighter where the label is larger."""
    for start in range(0, n, size):
        labels = rng.integers(0, 10, size=min(size, n - start))
        yield rng.normal(size=(len(labels), 8, 8)) + 0.2 * labels[:, None, None], labels


def test_a_table_of_any_network_feeds_the_experiments(recipe, tmp_path, command):
    rng = np.random.default_rng(1)
    small = network(rng)
    train, train_labels = recipe.features(small, batches(rng, 620))
    test, test_labels = recipe.features(small, batches(rng, 200))
    assert train.shape == (620, 48)
    train, test = recipe.principal_components(train, test)
    assert train.shape == (620, 32) and test.shape == (200, 32)
    assert np.allclose(np.cov(train, rowvar=False), np.diag(train.var(axis=0, ddof=1)), atol=1e-9)
    assert (np.diff(train.var(axis=0)) <= 1e-12).all(), "from the largest variance down"
    table = recipe.columns(train, train_labels, test, test_labels)
    with (tmp_path / "mnist.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values()))
    out = tmp_path / "out"
    command("experiment", "table2", "--only", "mnist", "--data", tmp_path, "-o", out)
    assert "| mnist | classification |" in (out / "table2.md").read_text()
    rows = list(csv.DictReader((out / "table2.csv").open()))
    assert [rows[0][name] for name in ("reference", "points", "test", "held_out", "dimension")] == [
        "420",
        "200",
        "100",
        "100",
        "32",
    ]


def test_components_do_not_depend_on_the_sign_of_axes(recipe):
    rng = np.random.default_rng(2)
    train, test = rng.normal(size=(60, 5)), rng.normal(size=(10, 5))
    one = recipe.principal_components(train, test, 3)
    other = recipe.principal_components(train[::-1], test, 3)
    assert np.allclose(one[1], other[1])
