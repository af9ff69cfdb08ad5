"""A server, a browser, and pages that must not fail in silence."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

BINARY = os.environ.get("DSHAP_BINARY", "target/debug/dshap")
CHROMIUM = os.environ.get("DSHAP_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
# Slow machines under load take their time; a page that is wrong stays wrong.
expect.set_options(timeout=20_000)
# A folder whose files replace those of the program, to try changes of pages without building it.
ASSETS = os.environ.get("DSHAP_ASSETS")
PICTURES = Path(os.environ.get("DSHAP_PICTURES", "target/pictures"))


def make_table(path, rows=600, owners=("north", "south", "west")):
    """Rows of a linear model; the target of row 17 is far off, and some owners err more."""
    draw = random.Random(7)
    lines = ["name,owner,age,income,distance,price"]
    for i in range(rows):
        age, income, distance = draw.gauss(40, 10), draw.gauss(50, 15), draw.expovariate(0.2)
        owner = owners[i % len(owners)]
        noise = draw.gauss(0, 12 if owner == "west" else 4)
        price = 3 * age + 2 * income - distance + noise + (400 if i == 17 else 0)
        lines.append(f"row-{i},{owner},{age:.3f},{income:.3f},{distance:.3f},{price:.3f}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    make_table(folder / "houses.csv")
    (folder / "bad.csv").write_text("a,y\n" + "".join(f"{i % 5},{i * i % 7}\n" for i in range(20)) + "oops,3\n")
    return folder


@pytest.fixture(scope="session")
def server(tables):
    command = [BINARY, "serve", "--port", "0", "--data", str(tables), "--max-upload", "1MB"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().strip().rstrip("/")
    process.terminate()
    assert process.wait(timeout=20) == 0


@pytest.fixture(scope="session")
def browser():
    assert CHROMIUM, "chromium is missing; `./test browser` installs it"
    with sync_playwright() as playwright:
        # Tests run as root in containers, where chromium has no sandbox.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A page whose errors and requests are kept, to be looked at in the end."""

    def __init__(self, page, server, expects_errors):
        self.page, self.server = page, server
        self.errors, self.strangers = [], []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self._console(message, expects_errors))
        page.on("request", self._request)
        if ASSETS:
            page.route("**/assets/*", lambda route: route.fulfill(path=Path(ASSETS) / route.request.url.split("/")[-1]))

    def _console(self, message, expects_errors):
        # A refused request is also a line in the console, where a test asks for one.
        is_expected = expects_errors and "Failed to load resource" in message.text
        if message.type in ("error", "warning") and not is_expected:
            self.errors.append(message.text)

    def _request(self, request):
        if not request.url.startswith((self.server, "data:", "blob:", "about:")):
            self.strangers.append(request.url)

    def __getattr__(self, name):
        return getattr(self.page, name)

    def open(self, address):
        self.page.goto(f"{self.server}/#{address}")
        return self

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png", full_page=True)

    def check_access(self):
        """No violation that axe-core finds, and nothing wider than the window."""
        found = Axe().run(self.page)
        assert found.violations_count == 0, found.generate_report()
        wide = self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        assert not wide, "the page scrolls sideways"


@pytest.fixture
def watched(browser, server, request):
    contexts = []

    def make(width=1400, dark=False, expects_errors=False):
        scheme = "dark" if dark else "light"
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce", accept_downloads=True
        )
        context.set_default_timeout(20_000)
        contexts.append((context, Watched(context.new_page(), server, expects_errors)))
        return contexts[-1][1]

    yield make
    for context, page in contexts:
        context.close()
        assert not page.errors, page.errors
        assert not page.strangers, page.strangers


@pytest.fixture(scope="session")
def runs(browser, server):
    """Two finished runs on the same table."""
    context = browser.new_context()
    ids = []
    for method in ("gaussian", "calibrated"):
        options = {"target": "price", "by": "owner", "id": "name"}
        body = {"table": "data/houses.csv", "method": method, "options": options}
        started = context.request.post(f"{server}/api/runs", data=body)
        assert started.ok, started.text()
        ids.append(started.json()["id"])
    for run in ids:
        while (view := context.request.get(f"{server}/api/runs/{run}").json())["status"] in ("waiting", "running"):
            pass
        assert view["status"] == "done", view
    context.close()
    return ids
