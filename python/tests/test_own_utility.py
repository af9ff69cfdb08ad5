"""Baselines with a Python function as utility, against all sets written out."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from conftest import assert_same_bits

import dshap
from dshap import DshapError, InputError, baselines

N = 6


class Game:
    """A random number for each set of rows, which is asked for by their numbers."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.worth = {rows: rng.normal() for k in range(N + 1) for rows in itertools.combinations(range(N), k)}
        self.asked = []

    def __call__(self, rows):
        assert rows.dtype == np.int64
        self.asked.append(tuple(rows.tolist()))
        return self.worth[self.asked[-1]]

    def gain(self, row, others):
        return self.worth[tuple(sorted((*others, row)))] - self.worth[tuple(others)]

    def mean_gain(self, row, size):
        others = [one for one in range(N) if one != row]
        gains = [self.gain(row, rows) for rows in itertools.combinations(others, size)]
        return math.fsum(gains) / len(gains)

    def shapley(self):
        return np.array([np.mean([self.mean_gain(row, size) for size in range(N)]) for row in range(N)])


#: With six rows, five deviations are passed once in 300 000 runs; the seeds are fixed.
MOST_DEVIATIONS = 5


def assert_agrees(found, exact, other):
    """Within standard errors of the exact values, and beyond them from values that are slightly wrong."""
    assert (np.abs(found.value - exact) < MOST_DEVIATIONS * found.stderr).all()
    assert (np.abs(found.value - other) > MOST_DEVIATIONS * found.stderr).any(), "the test could not fail"


@pytest.fixture
def X():
    return np.zeros((N, 1))


def test_all_sets(X):
    game = Game()
    found = baselines.exact_shapley(X, utility=game)
    assert np.allclose(found.value, game.shapley(), rtol=1e-12, atol=1e-14)
    assert np.isclose(found.value.sum(), game.worth[tuple(range(N))] - game.worth[()])
    assert all(list(rows) == sorted(rows) for rows in game.asked)
    assert set(game.asked) == set(game.worth)


def test_random_orders(X):
    game = Game(1)
    found = baselines.tmc_shapley(X, utility=game, samples=4000, stop=0.0)
    exact = game.shapley()
    # As if the empty set did not count.
    other = np.array([np.mean([game.mean_gain(row, size) for size in range(1, N)]) for row in range(N)])
    assert_agrees(found, exact, other)


@pytest.mark.parametrize("q, m", [(1, 6), (3, 5)])
def test_random_sets(X, q, m):
    game = Game(2)
    found = baselines.d_shapley(X, utility=game, q=q, m=m, samples=6000, stop=0.0)

    def distributional(least, most):
        return np.array([sum(game.mean_gain(row, size) for size in range(least, most)) / m for row in range(N)])

    exact = distributional(q - 1, m)
    assert_agrees(found, exact, distributional(q, m))


def test_all_rows_but_one(X):
    game = Game(3)
    everything = tuple(range(N))
    found = baselines.leave_one_out(X, utility=game)
    without = [game.worth[tuple(np.delete(everything, row))] for row in everything]
    assert np.allclose(found.value, game.worth[everything] - np.array(without), rtol=1e-12)


def test_sets_below_q_are_worth_nothing(X):
    game = Game(4)
    found = baselines.exact_shapley(X, utility=game, q=3)
    cut = Game(4)
    cut.worth = {rows: worth - game.worth[()] if len(rows) >= 3 else 0.0 for rows, worth in game.worth.items()}
    assert np.allclose(found.value, cut.shapley(), rtol=1e-12, atol=1e-14)


def test_a_function_that_does_what_the_engine_does():
    rng = np.random.default_rng(5)
    X, X_test = rng.standard_normal((9, 2)), rng.standard_normal((50, 2))
    y, y_test = X @ [1.0, 2.0] + rng.standard_normal(9), X_test @ [1.0, 2.0] + rng.standard_normal(50)
    given = {"test": (X_test, y_test), "intercept": False, "ridge": 0.5}

    def saved(rows):
        gram = X[rows].T @ X[rows] + 0.5 * np.eye(2)
        return -np.mean((y_test - X_test @ np.linalg.solve(gram, X[rows].T @ y[rows])) ** 2)

    for function, more in (
        (baselines.exact_shapley, {}),
        (baselines.leave_one_out, {}),
        (baselines.tmc_shapley, {"samples": 300, "stop": 0.0, "seed": 7}),
        (baselines.d_shapley, {"samples": 300, "stop": 0.0, "seed": 7, "q": 2}),
    ):
        mine, own = function(X, utility=saved, **more), function(X, y, **given, **more)
        assert np.allclose(mine.value, own.value, rtol=1e-8, atol=1e-10), function.__name__
        assert (mine.stderr is None) == (own.stderr is None)


def test_threads_change_no_bit(X):
    game = Game(6)
    one = baselines.tmc_shapley(X, utility=game, samples=300, stop=0.0)
    assert_same_bits(one.value, baselines.tmc_shapley(X, utility=game, samples=300, stop=0.0, n_jobs=3).value)


def test_rows_may_be_anything_with_a_length():
    words = ["a", "bb", "ccc"]
    found = baselines.exact_shapley(words, utility=lambda rows: sum(len(words[row]) for row in rows))
    assert np.allclose(found.value, [1, 2, 3])
    frame = pd.DataFrame({"word": words}, index=["x", "y", "z"])
    assert list(baselines.leave_one_out(frame, utility=len).to_pandas().index) == ["x", "y", "z"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_function_may_use_dshap_itself(X, n_jobs):
    rows, targets = dshap.datasets.gaussian_r(600, 2, seed=1)

    def nested(some):
        dshap.RegressionValuer(n_jobs=n_jobs).fit(rows, targets).value(rows, targets)
        return float(baselines.exact_shapley(X[:2], utility=len, n_jobs=n_jobs).value.sum()) + len(some)

    assert np.allclose(baselines.leave_one_out(X, utility=nested, n_jobs=n_jobs).value, 1.0)


class Own(Exception):
    pass


@pytest.mark.parametrize("raised", [Own, KeyboardInterrupt])
@pytest.mark.parametrize("function", [baselines.tmc_shapley, baselines.exact_shapley, baselines.leave_one_out])
def test_what_the_function_raises_comes_through(X, function, raised):
    calls = []

    def broken(rows):
        calls.append(rows)
        if len(rows) == 3 or len(rows) == N - 1:
            raise raised("mine")
        return 0.0

    with pytest.raises(raised, match="mine"):
        function(X, utility=broken)
    assert len(calls) < 100, "it is not asked again"


@pytest.mark.parametrize("worth, words", [
    ("much", "`utility` returned a str for 0 rows; expected a number"),
    (None, "returned a NoneType"),
    (float("nan"), "returned NaN for 0 rows; expected a finite number"),
    (float("inf"), "returned inf for 0 rows"),
])  # fmt: skip
def test_what_is_no_worth(X, worth, words):
    with pytest.raises(InputError, match=words):
        baselines.leave_one_out(X, utility=lambda rows: worth)


@pytest.mark.parametrize("keywords, words", [
    ({"test": (np.zeros((2, 1)), np.zeros(2))}, "`test` does not go with a function"),
    ({"ridge": 1.0}, "`ridge` does not go with a function"),
    ({"task": "density"}, "`task` does not go"),
    ({"samples": 1}, "at least 2|at least two"),
    ({"stop": -1.0}, "`stop` is -1"),
    ({"q": 0}, "`q` is 0"),
    ({"seed": -1}, "`seed` is -1"),
])  # fmt: skip
def test_options_that_do_not_go_with_it(X, keywords, words):
    with pytest.raises(DshapError, match=words):
        baselines.tmc_shapley(X, utility=Game(), **keywords)
    assert baselines.exact_shapley(X[:3], utility=len).value.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(DshapError, match="`tmc_shapley` estimates"):
        baselines.exact_shapley(np.zeros((21, 1)), utility=len)
