"""Nearest neighbours: the same bits as the command line, and the values of the definition."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import assert_same_bits, column
from sklearn.base import clone

from dshap import ClassificationValuer, DshapError, InputError, RegressionValuer

NAMES = ["a", "b", "c"]

#: Parameters, and the same as flags.
CASES = {
    "default": ({}, []),
    "k and sizes": ({"k": 3, "m": 60, "q": 9}, ["--k", 3, "--m", 60, "--q", 9]),
    "manhattan": ({"metric": "manhattan", "scale": "none"}, ["--metric", "manhattan", "--scale", "none"]),
    "cosine": ({"metric": "cosine"}, ["--metric", "cosine"]),
    "sample": ({"samples": 40, "seed": 9}, ["--samples", 40, "--seed", 9]),
    "pca": ({"pca": 2}, ["--pca", 2]),
}

VALUERS = {"regression": RegressionValuer, "classification": ClassificationValuer}


def rows(task, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 30.0, 0.2] + [0.0, 5.0, -1.0]
    score = X[:, 0] + X[:, 1] / 30 + rng.normal(size=n)
    return X, score if task == "regression" else np.array(["ash", "elm", "oak"])[np.digitize(score, [-0.7, 0.9])]


@pytest.fixture(params=VALUERS)
def setting(request, tmp_path):
    """A task with 120 reference rows, 50 points and 30 test rows, also as files."""
    tables = {name: rows(request.param, n, n) for name, n in [("reference", 120), ("points", 50), ("test", 30)]}
    for name, (X, y) in tables.items():
        pd.DataFrame(X, columns=NAMES).assign(t=y).to_parquet(tmp_path / f"{name}.parquet")
    files = {name: tmp_path / f"{name}.parquet" for name in tables}
    return VALUERS[request.param], tables, files


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_the_command_line(case, setting, values_by_command):
    Valuer, tables, files = setting
    params, flags = CASES[case]
    flags = ["--target", "t", "--method", "knn", "--stderr", *flags]
    valuer = Valuer("knn", **params).fit(*tables["reference"])
    expected = values_by_command(files["points"], "--reference", files["reference"], *flags)
    assert_same_bits(valuer.value(*tables["points"]), column(expected, "value"))
    assert_same_bits(valuer.standard_errors(*tables["points"]), column(expected, "stderr"))
    found = valuer.explain_training(std_error=True)
    expected = values_by_command(files["reference"], *flags)
    assert_same_bits(found.value, column(expected, "value"))
    assert_same_bits(found.stderr, column(expected, "stderr"))
    assert valuer.test_rows_ == params.get("samples", 120)


@pytest.mark.parametrize("method", ["knn", "knn-shapley"])
def test_rows_to_be_predicted_may_be_others(method, setting, values_by_command):
    Valuer, tables, files = setting
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        valuer = Valuer(method, k=4).fit(*tables["reference"], test=tables["test"])
    expected = values_by_command(
        files["reference"], "--target", "t", "--method", method, "--k", 4, "--test", files["test"]
    )
    assert_same_bits(valuer.value_training(), column(expected, "value"))
    assert valuer.test_rows_ == 30
    frames = [pl.DataFrame(X, schema=NAMES) for X, _ in (tables["reference"], tables["test"])]
    again = Valuer(method, k=4).fit(frames[0], tables["reference"][1], test=(frames[1], tables["test"][1]))
    assert_same_bits(again.value_training(), column(expected, "value"))


def test_files_go_both_ways(setting, tmp_path, command, values_by_command):
    Valuer, tables, files = setting
    flags = ["--target", "t", "--method", "knn", "--k", 3, "--metric", "cosine"]
    path = tmp_path / "v.dshap"
    command("fit", files["reference"], "--test", files["test"], *flags, "-o", path, "--quiet")
    loaded = Valuer.load(path)
    assert (loaded.method, loaded.k, loaded.metric, loaded.samples) == ("knn", 3, "cosine", None)
    values = loaded.value(*named(tables["points"]))
    fitted = Valuer("knn", k=3, metric="cosine")
    fitted.fit(*named(tables["reference"]), test=named(tables["test"]))
    assert_same_bits(fitted.value(*named(tables["points"])), values)
    fitted.save(tmp_path / "w.dshap")
    # An array has no name of its own.
    renamed = tmp_path / "renamed.parquet"
    pd.read_parquet(files["points"]).rename(columns={"t": fitted._target}).to_parquet(renamed)
    expected = values_by_command(renamed, "--valuer", tmp_path / "w.dshap")
    assert_same_bits(values, column(expected, "value"))


def named(rows_and_targets):
    X, y = rows_and_targets
    return pd.DataFrame(X, columns=NAMES), y


def test_pickles_and_clones(setting):
    Valuer, tables, _ = setting
    valuer = Valuer("knn", k=2, scale="none").fit(*tables["reference"], test=tables["test"])
    values = valuer.value(*tables["points"])
    again = pickle.loads(pickle.dumps(valuer))
    assert_same_bits(again.value(*tables["points"]), values)
    assert clone(valuer).get_params() == valuer.get_params()
    shapley = pickle.loads(pickle.dumps(Valuer("knn-shapley").fit(*tables["reference"])))
    assert shapley.method == "knn-shapley"
    with pytest.raises(DshapError, match="`value_training` values the rows that were fitted"):
        shapley.value(*tables["points"])


def test_rows_may_come_one_by_one(setting):
    """The order of the training rows is kept by the first call, and by a pickle if that was asked for."""
    Valuer, tables, _ = setting
    X, y = tables["points"]
    fitted = {lists: Valuer("knn", k=3, lists=lists).fit(*tables["reference"]) for lists in (False, True)}
    expected = fitted[False].value(X, y)
    sizes = {lists: len(pickle.dumps(valuer)) for lists, valuer in fitted.items()}
    # 120 test rows, each with the 119 others.
    assert 8 * 120 * 119 < sizes[True] - sizes[False] < 8 * 120 * 119 + 4000
    for valuer in [*fitted.values(), *(pickle.loads(pickle.dumps(valuer)) for valuer in fitted.values())]:
        one_by_one = np.concatenate([valuer.value(X[i : i + 1], y[i : i + 1]) for i in range(len(y))])
        assert_same_bits(one_by_one, expected)
        assert_same_bits(valuer.value(X, y), expected)
        errors = valuer.standard_errors(X[:2], y[:2])
        assert_same_bits(errors, fitted[False].standard_errors(X, y)[:2])
    # What was kept by a call is not part of a pickle that nobody asked to have it.
    assert len(pickle.dumps(fitted[False])) == sizes[False]


def test_threads_do_not_matter(setting):
    Valuer, tables, _ = setting
    one, two = (Valuer("knn", n_jobs=n).fit(*tables["reference"]) for n in (1, 2))
    assert_same_bits(one.value_training(), two.value_training())


def test_values_are_the_mean_gain_over_all_sets():
    """All sets of six reference rows and two test rows, enumerated without the engine."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    tests, (x, target) = rng.normal(size=(2, 2)), (rng.normal(size=2), 0.3)
    test_y = rng.normal(size=2)
    k, m, q = 2, 5, 4

    def utility(cells, targets):
        distances = ((tests[:, None] - cells) ** 2).sum(axis=2)
        nearest = np.argsort(distances, axis=1)[:, :k]
        return -((targets[nearest].mean(axis=1) - test_y) ** 2).mean()

    expected = 0.0
    for size in range(q - 1, m):
        gains = []
        for chosen in itertools.combinations(range(6), size):
            rest, own = X[list(chosen)], y[list(chosen)]
            gains.append(utility(np.vstack([rest, x]), np.append(own, target)) - utility(rest, own))
        expected += np.mean(gains) / m
    valuer = RegressionValuer("knn", k=k, m=m, q=q, scale="none").fit(X, y, test=(tests, test_y))
    # Sums of a few terms of order one.
    assert valuer.value([x], [target])[0] == pytest.approx(expected, abs=1e-13)


def test_what_is_learned(setting):
    Valuer, tables, _ = setting
    valuer = Valuer("knn", k=3).fit(*tables["reference"])
    assert (valuer.p_, valuer.q_, valuer.m_, valuer.n_rows_, valuer.test_rows_) == (3, 4, 120, 120, 120)
    assert not hasattr(valuer, "coef_")
    if Valuer is ClassificationValuer:
        assert valuer.classes_.tolist() == ["ash", "elm", "oak"]
        assert valuer.label_rows_.sum() == 120
    linear = clone(valuer).set_params(method="gaussian", k=5).fit(*tables["reference"])
    assert not hasattr(linear, "test_rows_")
    assert hasattr(linear, "coef_")


def test_refusals_say_what_to_do(setting):
    Valuer, tables, _ = setting
    X, y = tables["reference"]

    def refused(match, params, **more):
        with pytest.raises(InputError, match=match):
            Valuer(**params).fit(X, y, **more)

    refused("`k` goes with `knn` and `knn-shapley` only", {"k": 3})
    refused("`metric` goes with `knn` and `knn-shapley` only", {"metric": "cosine"})
    refused("with `test` all test rows are given", {"method": "knn", "samples": 5}, test=tables["test"])
    refused("pair of rows and their targets", {"method": "knn"}, test=X)
    refused("test rows have 2 features, but the reference has 3", {"method": "knn"}, test=(X[:, :2], y))
    refused("too few for the 120 nearest rows", {"method": "knn", "k": 120})
    refused("`k` is 0", {"method": "knn", "k": 0})
    refused("`metric` is 'chebyshev'", {"method": "knn", "metric": "chebyshev"})
    refused("neighbours have no intercept", {"method": "knn", "intercept": False})
    refused("counts sets of every size", {"method": "knn-shapley", "m": 9})
    refused("reference rows count alike", {"method": "knn"}, sample_weight=np.ones(len(y)))
    one, other = (Valuer("knn").fit(X, y) for _ in range(2))
    if Valuer is RegressionValuer:
        assert not hasattr(one, "partial_fit")
        with pytest.raises(DshapError, match="cannot change"):
            one.merge(other)
