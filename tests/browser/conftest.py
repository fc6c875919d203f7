"""One Jupyter server and one Chromium for all browser tests; without a Chromium they skip and say what to install."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser.front_ends import INSTALL, PATIENCE, Server, launch, serve
from forking.kernels import jupyter_path
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

OpenPage = Callable[..., Page]
VIEWPORT: dict[str, Any] = {"viewport": {"width": 1200, "height": 1400}}


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
    with serve(tmp_path_factory.mktemp("jupyter"), kernels=jupyter_path()) as server:
        yield server


@pytest.fixture(scope="package")
def shared_context(browser: Browser) -> Iterator[BrowserContext]:
    """Where pages without settings of their own open: JupyterLab comes from the cache from the second one on."""
    context = browser.new_context(**VIEWPORT)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture(scope="module")
def new_page(browser: Browser, shared_context: BrowserContext) -> Iterator[OpenPage]:
    """Opens a page of a size; with other keyword arguments, those of Playwright's ``new_context``, in a context of its
    own, whose JupyterLab is read and compiled anew."""
    contexts: list[BrowserContext] = []
    pages: list[Page] = []

    def open_page(**settings: object) -> Page:
        if settings.keys() <= VIEWPORT.keys():
            pages.append(shared_context.new_page())
            pages[-1].set_viewport_size({**VIEWPORT, **settings}["viewport"])
            return pages[-1]
        context = browser.new_context(**{**VIEWPORT, **settings})  # type: ignore[arg-type]
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        return context.new_page()

    yield open_page
    for page in pages:
        page.close()
    for context in contexts:
        context.close()
