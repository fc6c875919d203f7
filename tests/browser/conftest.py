"""One Jupyter server and one Chromium for all browser tests; without a Chromium they skip and say what to install."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from browser.front_ends import INSTALL, PATIENCE, Server, launch, serve
from playwright.sync_api import Browser, Page, expect, sync_playwright

OpenPage = Callable[..., Page]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            pytest.skip(INSTALL)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("jupyter")) as server:
        yield server


@pytest.fixture(scope="module")
def new_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens a page in a context of its own; keyword arguments are those of Playwright's ``new_context``."""
    contexts = []

    def open_page(**settings: object) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 1400}, **settings})  # type: ignore[arg-type]
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        return context.new_page()

    yield open_page
    for context in contexts:
        context.close()
