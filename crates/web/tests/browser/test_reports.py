"""The report of every table in the folder of the data is small and accessible."""

import os
import subprocess
from pathlib import Path

import pytest

from conftest import BINARY, Watched

DATA = Path(os.environ.get("DSHAP_DATA", Path(__file__).parents[4].parent / "shared/data"))
TABLES = sorted(path for path in DATA.glob("*") if path.suffix in (".csv", ".parquet"))


def test_there_are_tables_to_report_on():
    """Without tables the next test has no case. `./test full` sets DSHAP_REQUIRE_DATA and skips no test."""
    if not TABLES:
        assert not os.environ.get("DSHAP_REQUIRE_DATA"), f"there are no tables in {DATA}, and `./test full` skips no test"
        pytest.skip(f"there are no tables in {DATA}")


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_the_report_is_small_and_accessible(browser, server, tmp_path, path):
    out = tmp_path / "report.html"
    command = [BINARY, "report", path, "--target", "target", "--quiet", "-o", out]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    assert out.stat().st_size < 500_000
    for width, scheme in ((400, "light"), (1400, "dark")):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = Watched(context.new_page(), "file://", expects_errors=False)
        page.goto(out.as_uri())
        page.check_access()
        context.close()
        assert not page.errors and not page.strangers, (page.errors, page.strangers)
