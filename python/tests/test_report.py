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


def test_rows_have_the_page_of_the_command(tmp_path):
    X, y = gaussian_r(200, 3, seed=4)
    y = y.copy()
    y[7] += 40
    page = dshap.report(X, y, tmp_path / "page.html", title="rows")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    for part in ("quality", "assumptions", "distribution", "rows", "sizes", "sensitivity", "cleaning", "reproduce"):
        assert f'<h2 id="{part}">' in page, part
    assert "<summary>Row 7 has the value" in page and "model of the other rows predicts" in page
    value = dshap.RegressionValuer().fit(X, y).value_training()
    lowest = page.split("Rows with the lowest values</caption>")[1].split("</tr>")[1]
    assert f'data-number="{value[7]}"' in lowest
    assert "dshap.report(RegressionValuer().fit(X, y))" in page and "X.arrow" not in page and "/tmp" not in page
    # Those of a valuer are its own.
    valuer = dshap.RegressionValuer("calibrated", m=500).fit(X, y)
    again = dshap.report(valuer, by=["north", "south"] * 100)
    assert "method calibrated" in again and "value given the others" in again and "<td>north</td>" in again
    assert "m = 500" in again and again == dshap.report(X, y, method="calibrated", m=500, title="rows", by=["north", "south"] * 100)


def test_text_stays_on_the_page(mixed):
    X, y = mixed
    X, y = X.dropna(), y[X.dropna().index]
    labels = np.where(y > np.median(y), "dear", "<cheap>")
    page = dshap.report(X, labels)
    assert "labels predicted right" in page and "What cleaning would do" in page
    given = page.split("Rows with the largest penalties</caption>")[1].split("</table>")[0]
    assert "<td>dear</td>" in given and "<td>&lt;cheap&gt;</td>" in given
    # A page of values has the names of its rows.
    X.index = [f"house {i}" for i in range(len(X))]
    alone = dshap.ClassificationValuer().fit(X, labels).explain_training().to_html()
    assert "<td>house 1" in alone and '<h2 id="quality">' not in alone


def test_test_rows_and_densities_have_their_parts():
    X, y = gaussian_r(150, 2, seed=5)
    page = dshap.report(X, y, test=gaussian_r(60, 2, seed=6))
    assert "Do these values choose good rows?" in page and "values are for the 60 rows" in page
    assert "kernel" in dshap.report(X) or "density" in dshap.report(X)


def test_what_has_no_full_page_is_refused():
    X, y = gaussian_r(80, 2, seed=5)
    valuer = dshap.RegressionValuer().fit(X, y)
    with pytest.raises(dshap.InputError, match="`test` is for rows"):
        dshap.report(valuer, test=(X, y))
    with pytest.raises(dshap.DshapError, match="were not kept"):
        dshap.report(dshap.RegressionValuer(keep_training=False).fit(X, y))
    with pytest.raises(dshap.NotFittedError):
        dshap.report(dshap.RegressionValuer())
    with pytest.raises(dshap.InputError, match="task"):
        dshap.report(X, y, task="guess")
