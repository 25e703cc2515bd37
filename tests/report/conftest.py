"""What the tests of reports share: small real logs of reference agents, made once; a browser."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from whybench.episode.registry import load_suite
from whybench.interfaces.inspectai.runner import reference_logs
from whybench.report.runs import read_runs


@pytest.fixture(scope="session")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CausalLink with floors, ceiling and one more agent; CausaLab with two agents."""

    folder = tmp_path_factory.mktemp("logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("xdg")))
        core = load_suite("causallink/core")
        reference_logs(
            core,
            ("null", "null_no", "random", "first_listed", "exact"),
            folder,
            12,
            {"protocol": "tools"},
        )
        lab = load_suite("causalab/main_3")
        reference_logs(lab, ("regression", "exact"), folder, 4)
    return folder


@pytest.fixture(scope="session")
def logs(log_dir: Path):

    return read_runs([log_dir])


@pytest.fixture(scope="module")
def browser():
    """One browser for a file's tests: while it is open, no other event loop can run."""
    chromium = shutil.which("chromium")
    if chromium is None and not os.environ.get("WHYBENCH_REQUIRE_BROWSER"):
        pytest.skip("needs Debian's package `chromium`")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    from tests.report.made_up import report

    from whybench.report.page import write

    return write(report(), tmp_path_factory.mktemp("page") / "report.html").page.as_uri()


@pytest.fixture
def visit(browser, address):
    """Open the page; at the end no error may have been told and nothing but files asked for."""
    from playwright.sync_api import expect

    told: list[str] = []
    asked: list[str] = []
    contexts = []

    def opened(anchor: str = "", width: int = 1400, scheme: str = "light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address + anchor)
        if anchor.startswith("#episode="):
            expect(page.locator("article.episode")).to_be_visible()
        return page

    yield opened
    hacked = [context.pages[0].evaluate("window.hacked ?? null") for context in contexts]
    for context in contexts:
        context.close()
    assert told == []
    assert asked
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    assert hacked == [None] * len(contexts)
