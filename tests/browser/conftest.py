"""One Jupyter server and one Chromium for all browser tests; without a Chromium they skip and say what to install."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser.front_ends import INSTALL, PATIENCE, Server, exchange_notebook, launch, open_notebook, serve
from forking.kernels import jupyter_path
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

OpenPage = Callable[..., Page]
Show = Callable[..., Page]
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


def _windows(shared_context: BrowserContext, server: Server) -> Iterator[Show]:
    """A window of JupyterLab's, which takes five seconds of a core to begin. Opens a notebook in it, in place of the
    one before and of its kernel, as a reader does who goes on to another."""
    pages: list[Page] = []

    def opened(name: str, **settings: Any) -> Page:
        page = pages[0] if pages else shared_context.new_page()
        page.set_viewport_size({**VIEWPORT, **settings}["viewport"])
        if pages:
            exchange_notebook(page, name)
        else:
            pages.append(page)
            open_notebook(page, server.lab(name))
        return page

    yield opened
    for page in pages:
        page.close()


show_for_long = pytest.fixture(scope="package", name="show_for_long")(_windows)
"""Opens the notebook that the tests of a module have in common."""
show = pytest.fixture(scope="package", name="show")(_windows)
"""Opens a notebook that one test looks at."""


def in_notebook_7(new_page: OpenPage, server: Server, name: str) -> Page:
    """A notebook in Notebook 7, which has a page for each."""
    page = new_page()
    open_notebook(page, server.notebook(name))
    return page
