"""Every page at three widths, light and dark; and the way from a file to a decision."""

import json
import re

import pytest
from playwright.sync_api import expect

from conftest import make_table

SIZES = [(400, False), (800, False), (1400, False), (400, True), (800, True), (1400, True)]


@pytest.mark.parametrize("width, dark", SIZES)
def test_every_page_fits_and_is_accessible(watched, runs, width, dark):
    look = f"{width}-{'dark' if dark else 'light'}"
    for name, address, wait in [
        ("home", "/", "table"),
        ("table", "/table/data%2Fhouses.csv", "form"),
        ("run", f"/run/{runs[0]}", "tbody tr td button"),
        ("compare", f"/compare/{runs[0]}/{runs[1]}", "figure svg"),
        ("theory", "/theory", "figure svg"),
    ]:
        page = watched(width, dark)
        page.open(address)
        page.wait_for_selector(wait)
        page.wait_for_load_state("networkidle")
        page.picture(f"{name}-{look}")
        page.check_access()
    page = watched(width, dark).open(f"/run/{runs[0]}")
    page.click("tbody tr td button")
    page.wait_for_selector("dialog table")
    page.picture(f"row-{look}")
    page.check_access()
    page = watched(width, dark, expects_errors=True).open("/run/run-999")
    page.wait_for_selector(".problem")
    page.picture(f"problem-{look}")
    page.check_access()


def test_from_a_file_to_a_decision(watched, tmp_path):
    page = watched()
    page.open("/")
    page.set_input_files("#file", make_table(tmp_path / "my houses.csv", rows=300))
    page.wait_for_selector("form")
    expect(page.locator("h1")).to_have_text("my houses.csv")
    # The last column is taken for the target; names are no feature.
    expect(page.locator("#o-target")).to_have_value("price")
    page.select_option("#o-id", "name")
    page.select_option("#o-by", "owner")
    page.check("#o-stderr")
    page.get_by_role("button", name="Value the rows").click()
    page.wait_for_selector("tbody tr td button")
    # The lowest value comes first: the row whose target is wrong.
    expect(page.locator("tbody tr td button").first).to_have_text("17")
    # Search, then a range, then sorting.
    page.fill("#search", "west")
    expect(page.get_by_text("100 of 300 rows")).to_be_visible()
    page.fill("#search", "")
    page.get_by_text("Filter by a range").click()
    page.fill("#range-most", "0")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("value ≤ 0")).to_be_visible()
    values = page.locator("td.negative")
    expect(values.first).to_be_visible()
    page.get_by_role("button", name="Remove the range of value").click()
    page.get_by_role("button", name="value", exact=True).click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("value")
    # A drag across the histogram chooses rows.
    page.locator("#charts").scroll_into_view_if_needed()
    box = page.locator("figure svg").first.bounding_box()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 60, steps=4)
    page.mouse.up()
    expect(page.locator(".chip")).to_contain_text("value from")
    page.locator(".chip button").click()
    # Why a row has its value, by keyboard.
    page.get_by_role("button", name="value", exact=True).click()
    first = page.get_by_role("button", name="Row 17: why it has its value")
    first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("the model of the other rows predicts")).to_be_visible()
    expect(page.get_by_role("heading", name="Row 17")).to_be_visible()
    page.get_by_role("button", name="Next row").click()
    expect(page.get_by_role("heading", name="Row 17")).not_to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(first).not_to_be_focused()
    # Owners and a budget.
    page.fill("#budget", "1000")
    page.get_by_role("button", name="Divide").click()
    expect(page.get_by_role("columnheader", name="payout")).to_be_visible()
    # Files.
    with page.expect_download() as download:
        page.get_by_role("link", name="Values as CSV").click()
    lines = download.value.path().read_text().splitlines()
    assert len(lines) == 301 and "value" in lines[0] and "stderr" in lines[0]
    with page.expect_download() as download:
        page.get_by_role("link", name="Save the report").click()
    assert "Values of my houses.csv" in download.value.path().read_text()
    # A second run, then both side by side.
    page.get_by_role("link", name="my houses.csv").click()
    page.wait_for_selector("form")
    page.select_option("#o-method", "calibrated")
    page.select_option("#o-id", "name")
    page.select_option("#o-by", "owner")
    page.get_by_role("button", name="Value the rows").click()
    page.wait_for_selector("tbody tr td button")
    page.get_by_role("link", name="Tables and runs").first.click()
    # By name: the page of the run, which is still shown for a moment, has other boxes.
    boxes = page.get_by_role("checkbox", name=re.compile("^Compare run-"))
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("button", name="Compare two runs").click()
    expect(page.get_by_role("heading", name="What differs")).to_be_visible()
    expect(page.get_by_text("correlation of ranks")).to_be_visible()


def test_columns_are_chosen_and_pages_are_turned(watched, runs):
    page = watched().open(f"/run/{runs[0]}")
    page.wait_for_selector("tbody tr td button")
    page.locator("summary", has_text="Columns").click()
    page.get_by_label("income", exact=True).uncheck()
    expect(page.get_by_role("button", name="income", exact=True)).to_have_count(0)
    first = page.locator("tbody tr td button").first.inner_text()
    page.get_by_role("button", name="Last").click()
    expect(page.get_by_text("576 to 600")).to_be_visible()
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_disabled()
    page.get_by_role("button", name="First").click()
    expect(page.locator("tbody tr td button").first).to_have_text(first)
    page.fill("#search", "nothing has this")
    expect(page.get_by_text("No row matches")).to_be_visible()


def test_the_theory_moves_with_its_sliders(watched):
    page = watched().open("/theory")
    page.wait_for_selector("figure svg polyline")
    before = page.locator("polyline").first.get_attribute("points")
    value = page.locator("dl.tiles dd").first.inner_text()
    page.locator("#slider-e2").focus()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    expect(page.locator("dl.tiles dd").first).not_to_have_text(value)
    page.locator("#slider-p").press("End")
    expect(page.locator("output[for=slider-q]")).to_have_text("203")
    # The row stays as unusual as it was, and its slider has room for the average row, whose d² is p.
    expect(page.locator("output[for=slider-d2]")).to_have_text("240.00")
    page.locator("#slider-d2").press("End")
    expect(page.locator("output[for=slider-d2]")).to_have_text("1200.0")
    expect(page.locator("polyline").first).not_to_have_attribute("points", before)


def test_what_goes_wrong_is_shown_with_a_way_out(watched, tmp_path):
    page = watched(expects_errors=True).open("/table/data%2Fbad.csv")
    page.wait_for_selector("form")
    page.get_by_role("button", name="Value the rows").click()
    expect(page.locator(".problem")).to_contain_text("oops")
    page.get_by_role("link", name="Change something and try again").click()
    page.wait_for_selector("form")
    page.select_option("#o-target", "")
    page.get_by_role("button", name="Value the rows").click()
    expect(page.locator(".problem")).to_contain_text("no target is chosen")
    expect(page.locator("#o-target")).to_be_focused()
    page.select_option("#o-target", "y")
    page.fill("#o-m", "many")
    page.get_by_role("button", name="Value the rows").click()
    expect(page.locator(".problem")).to_contain_text("whole number")
    large = tmp_path / "large.csv"
    large.write_text("a,b\n" + "1,2\n" * 300_000)
    page.open("/")
    page.set_input_files("#file", large)
    expect(page.locator(".problem")).to_be_visible()
    page.open("/table/data%2Fnothing.csv")
    expect(page.locator(".problem")).to_contain_text("there is no table")
    page.open("/nowhere")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()


def test_a_long_run_shows_progress_and_is_cancelled(watched, server):
    page = watched().open("/table/data%2Fhouses.csv")
    page.wait_for_selector("form")
    page.select_option("#o-method", "d-shapley")
    page.select_option("#o-exclude", ["name", "owner"])
    page.locator("summary", has_text="All options").click()
    page.fill("#o-samples", "100000000")
    page.fill("#o-stop", "0")
    page.get_by_role("button", name="Value the rows").click()
    expect(page.locator("progress")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("The run was cancelled")).to_be_visible()


def test_names_and_cells_are_never_markup(watched, tmp_path):
    page = watched()
    path = tmp_path / "odd.csv"
    rows = [f"\"<img src=x onerror=alert(1)>{i}\",{i},{i * i % 7},{i + i * i % 5}" for i in range(30)]
    path.write_text("\"<b>name</b>\",x,z,y\n" + "\n".join(rows) + "\n")
    page.open("/")
    page.set_input_files("#file", path)
    page.wait_for_selector("form")
    page.select_option("#o-id", "<b>name</b>")
    page.get_by_role("button", name="Value the rows").click()
    page.wait_for_selector("tbody tr td button")
    assert page.locator("main img").count() == 0 and page.locator("main b").count() == 0
    expect(page.get_by_text("<img src=x onerror=alert(1)>").first).to_be_visible()


def test_the_report_passes_the_same_checks(watched, server, runs):
    page = watched(400)
    page.goto(f"{server}/api/runs/{runs[0]}/report")
    assert page.locator("h1").inner_text() == "Values of houses.csv"
    saved = page.context.request.get(f"{server}/api/runs/{runs[0]}/report?download")
    assert len(saved.body()) < 500_000


def test_the_description_names_every_path_that_pages_use(browser, server):
    context = browser.new_context()
    document = json.loads(context.request.get(f"{server}/api/openapi.json").text())
    context.close()
    for path in ("/api/runs", "/api/runs/{id}/values", "/api/valuers/{name}/value", "/api/theory"):
        assert path in document["paths"], path
