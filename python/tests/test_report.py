"""Pages of values and owners."""

import numpy as np
import pytest

import dshap
from dshap.datasets import gaussian_r


@pytest.fixture(scope="module")
def values():
    X, y = gaussian_r(300, 3, seed=4)
    y = y.copy()
    y[7] += 40
    return dshap.RegressionValuer().fit(X, y).explain_training()


def test_a_page_shows_the_values(values, tmp_path):
    path = tmp_path / "page.html"
    page = values.to_html(path, title="my <rows>", by=["north ", "south", 1.0] * 100)
    assert path.read_text(encoding="utf-8") == page == dshap.report(values, title="my <rows>", by=["north ", "south", 1.0] * 100)
    assert "Values of my &lt;rows&gt;" in page and "<rows>" not in page
    assert len(page) < 500_000 and "https:" not in page
    lowest = page.split("Rows with the lowest values</caption>")[1].split("</tr>")[1]
    assert f'data-number="{values.value[7]}"' in lowest
    for owner in ("north", "south", "1"):
        assert f"<td>{owner}</td>" in page
    total = page.split("Values by owner</caption>")[1]
    assert f'data-number="{values.value[1::3].sum():.6}'[:20] in total


def test_rows_without_a_value_and_labels_have_a_page():
    X, y = gaussian_r(120, 2, seed=6)
    labels = np.where(y > 0, "yes", "no")
    found = dshap.ClassificationValuer().fit(X, labels).explain_training()
    assert "Largest penalties" in found.to_html()
    assert "What was valued" in dshap.report(found[:0])


def test_a_page_shows_owners(tmp_path):
    X, y = gaussian_r(90, 2, seed=5)
    found = dshap.owners(X, y, by=["a", "b", "c"] * 30, own=gaussian_r(20, 2, seed=8))
    page = found.to_html(tmp_path / "owners.html", title="vendors")
    assert "Values of vendors" in page and "Pairs of owners" in page and "given your own rows" in page
    assert f'data-number="{found.shapley[0]}"' in page
    assert np.all(found.given_own_stderr > 0)
    paid = dshap.payout(found, 100, basis="given-own")
    assert paid.payout_stderr is not None and paid.payout.sum() == pytest.approx(100)


def test_only_results_have_a_page(values):
    with pytest.raises(dshap.InputError, match="result of"):
        dshap.report([1.0, 2.0])
    with pytest.raises(dshap.InputError):
        dshap.report(values, by=["a"])
