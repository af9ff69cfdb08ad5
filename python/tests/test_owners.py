"""Owners of rows, payouts and receipts: the same engine as the command line."""

import json

import numpy as np
import pytest

import dshap
from dshap import InputError

pytestmark = pytest.mark.filterwarnings("ignore::dshap.DshapWarning")


def market(seed=0, n=40):
    """Rows of a fresh owner, a noisy one and a copy of the first, and test rows."""
    rng = np.random.default_rng(seed)

    def rows(n, noise):
        X = rng.normal(size=(n, 2))
        return X, 3 + 2 * X[:, 0] - X[:, 1] + noise * rng.normal(size=n)

    fresh, noisy = rows(n, 1.0), rows(n, 6.0)
    X = np.vstack([fresh[0], noisy[0], fresh[0]])
    y = np.concatenate([fresh[1], noisy[1], fresh[1]])
    return X, y, ["fresh"] * n + ["noisy"] * n + ["copy"] * n, rows(100, 1.0)


def utility(X, y, test, ridge):
    """Minus the mean squared error of a ridge regression with an intercept, by NumPy."""
    if len(y) == 0:
        return -np.var(test[1])
    A = np.column_stack([np.ones(len(y)), X])
    beta = np.linalg.solve(A.T @ A + ridge * np.diag([0.0, *np.ones(X.shape[1])]), A.T @ y)
    return -np.mean((test[1] - beta[0] - test[0] @ beta[1:]) ** 2)


def test_values_are_those_of_refits():
    X, y, by, test = market()
    found = dshap.owners(X, y, by=by, test=test, ridge=0.5)
    names = found.owner.tolist()
    assert names == ["copy", "fresh", "noisy"]
    member = np.array([names.index(name) for name in by])

    def worth(coalition):
        used = np.isin(member, list(coalition))
        return utility(X[used], y[used], test, 0.5)

    for g in range(3):
        a, b = {0, 1, 2} - {g}
        gain = lambda others: worth({*others, g}) - worth(others)  # noqa: E731
        expected = (gain(set()) + gain({a, b})) / 3 + (gain({a}) + gain({b})) / 6
        assert found.shapley[g] == pytest.approx(expected, rel=1e-9)
    assert found.shapley.sum() == pytest.approx(found.total)
    assert found.duplicates.tolist() == [40, 40, 0]
    values = dshap.RegressionValuer().fit(X, y).value_training()
    assert found.row_sum[2] == pytest.approx(values[member == 2].sum())
    assert found.joint[0] == pytest.approx(found.joint[1])
    assert found.interactions[0]["a"] == "copy" and found.interactions[0]["b"] == "fresh"


def test_the_command_line_finds_the_same(tmp_path, command):
    X, y, by, test = market(1)
    rows = np.column_stack([X, y])
    lines = [",".join(map(repr, map(float, row))) + f",{owner}" for row, owner in zip(rows, by)]
    (tmp_path / "rows.csv").write_text("a,b,y,vendor\n" + "\n".join(lines) + "\n")
    tests = [",".join(map(repr, map(float, row))) for row in np.column_stack([test[0], test[1]])]
    (tmp_path / "test.csv").write_text("a,b,y\n" + "\n".join(tests) + "\n")
    files = {name: tmp_path / name for name in ("rows.csv", "test.csv", "owners.json")}
    options = "--by vendor --target y --duplicates once".split()
    command("owners", files["rows.csv"], *options, "--test", files["test.csv"], "-o", files["owners.json"])
    written = json.loads((tmp_path / "owners.json").read_text())
    found = dshap.owners(X, y, by=by, test=test, duplicates="once")
    assert found.shapley.tolist() == [line["shapley"] for line in written["owners"]]
    paid = dshap.payout(tmp_path / "owners.json", 1000)
    assert paid.payout.tolist() == dshap.payout(found, 1000).payout.tolist()


def test_a_budget_is_divided_to_the_last_unit():
    X, y, by, test = market(2)
    found = dshap.owners(X, y, by=by, test=test)
    paid = dshap.payout(found, 1000.01)
    assert paid.units.sum() == 100_001 and len(paid) == 3
    # The two copies move together and share everything; the noisy owner receives nothing.
    assert (paid.payout_stderr < 1e-9).all() and paid.ranking_survives == 1
    two = dshap.payout(dshap.owners(*test, by=["a", "b"] * 50, test=(X, y), game_only=True), 1000)
    assert (two.payout_stderr > 0).all() and 0 <= two.ranking_survives <= 1
    assert "payout" in repr(paid) and paid.to_pandas().shape[0] == 3
    rows = dshap.payout(found, 900, basis="rows")
    assert rows.payout[2] == 0 and (rows.stderr > 0).all() and rows.report["errors"] == "joint"
    assert dshap.payout({"a": 1, "b": 1, "c": 1}, 100, unit=1).units.sum() == 100
    with pytest.raises(InputError, match="not a whole number of units"):
        dshap.payout(found, 1.005)
    with pytest.raises(InputError, match="no `given_own`"):
        dshap.payout(found, 1, basis="given-own")


def test_errors_of_row_sums_are_those_of_values_by_owner():
    X, y, by, test = market(6)
    found = dshap.owners(X, y, by=by, test=test)
    groups = dshap.RegressionValuer().fit(X, y).explain_training(std_error=True).by(by)
    errors = dict(zip(groups.owner, groups.stderr))
    assert found.row_sum_stderr.tolist() == pytest.approx([errors[owner] for owner in found.owner], rel=1e-9)
    once = dshap.owners(X, y, by=by, test=test, duplicates="once")
    assert once.row_sum[0] == pytest.approx(once.row_sum[1])


def test_receipts(tmp_path):
    X, y, by, test = market(3)
    found = dshap.owners(X, y, by=by, test=test)
    (tmp_path / "owners.json").write_text(json.dumps(found.report))
    receipt = tmp_path / "receipt.json"
    dshap.payout(tmp_path / "owners.json", 500, manifest=receipt)
    assert dshap.verify(receipt) == []
    receipt.write_text(receipt.read_text().replace('"total": "500.00"', '"total": "600.00"'))
    assert any("changed after it was written" in text for text in dshap.verify(receipt))
    with pytest.raises(InputError, match="a receipt needs a file"):
        dshap.payout(found, 500, manifest=receipt)


def test_own_rows_labels_and_densities():
    X, y, by, test = market(4)
    own = (test[0][:30], test[1][:30])
    assert dshap.owners(X, y, by=by, own=own).given_own.shape == (3,)
    labels = np.where(y > 3, "high", "low")
    found = dshap.owners(X, labels, by=by, game_only=True)
    assert found.report["model"] == "logistic" and found.row_sum is None
    assert dshap.owners(X, labels, by=by, method="knn", k=3, game_only=True).report["model"] == "knn"
    found = dshap.owners(X, by=by, task="density", bandwidth=0.5, game_only=True)
    assert found.shapley.sum() == pytest.approx(found.total)


def test_owners_of_numbers_and_wrong_lengths():
    X, y, _, test = market(5)
    found = dshap.owners(X, y, by=np.repeat([3.0, 1.0, 2.0], 40), test=test, game_only=True)
    assert found.owner.tolist() == ["1", "2", "3"]
    with pytest.raises(InputError, match="owner has shape"):
        dshap.owners(X, y, by=["a"], test=test)
    with pytest.raises(InputError, match="no game between owners"):
        dshap.owners(X, y, by=np.repeat(["a", "b"], 60), method="loo")


def test_several_sizes_have_a_column_each():
    X, y, by, test = market(3)
    several = dshap.owners(X, y, by=by, test=test, ridge=0.5, m=[30, 60])
    for m in (30, 60):
        one = dshap.owners(X, y, by=by, test=test, ridge=0.5, m=m)
        assert np.array_equal(several.row_sum_at_m[m], one.row_sum)
        assert np.array_equal(several.joint_at_m[m], one.joint)
        assert one.row_sum_at_m == {}
    names = list(several.to_pandas().columns)
    assert names.index("row_sum_m30") < names.index("joint_m60") < names.index("shapley")
    with pytest.raises(InputError):
        dshap.owners(X, y, by=by, test=test, m=[30, 30])


def test_many_owners_have_interactions_with_errors():
    rng = np.random.default_rng(5)
    n = 20 * 30
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=n)
    by = np.repeat([f"v{g:02}" for g in range(20)], 30)
    X[30:60], y[30:60] = X[:30], y[:30]
    test = rng.normal(size=(200, 3))
    found = dshap.owners(X, y, by=by, test=(test, test @ [1.0, -2.0, 0.5]), stop=0.2, game_only=True)
    assert len(found.interactions) == 190
    assert all(pair["stderr"] > 0 for pair in found.interactions)
    values = [pair["value"] for pair in found.interactions]
    assert values == sorted(values)
