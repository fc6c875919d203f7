"""The documentation site: it builds without a warning, holds every page and every public name, and loads nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.front_ends import INSTALL, launch
from playwright.sync_api import Browser, sync_playwright

import inplace_magic

pytest.importorskip("myst_nb", reason="the site needs `pip install .[docs]`")

ROOT = Path(__file__).parent.parent
LOADED = re.compile(
    r"<(?:script|img|iframe|link rel=\"stylesheet\")[^>]*\b(?:src|href)=\"(?:https?:)?//[^\"]*", re.IGNORECASE
)


def build(source: Path, to: Path) -> subprocess.CompletedProcess[str]:
    """Builds the pages under a folder as `make docs` does."""
    settings = ["--quiet", "--fail-on-warning", "--keep-going", "--builder", "html", "--conf-dir", str(ROOT / "docs")]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            *settings,
            "--doctree-dir",
            str(to / "doctrees"),
            str(source),
            str(to / "site"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("docs")
    built = build(ROOT, to)
    assert (built.stderr, built.returncode) == ("", 0)
    return to / "site"


def test_make_docs_builds_with_the_same_settings() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "-m sphinx --quiet --fail-on-warning --keep-going --builder html --conf-dir docs" in makefile


def test_every_page_and_notebook_is_there_and_the_first_page_leads_to_them(site: Path) -> None:
    sources = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "notebooks").rglob("*.ipynb")]
    missing = [path for path in sources if not (site / path.relative_to(ROOT)).with_suffix(".html").exists()]
    assert missing == []
    assert "docs/index.html" in (site / "index.html").read_text(encoding="utf-8")


def test_a_notebook_is_shown_as_it_was_run(site: Path) -> None:
    outputs = ROOT / "notebooks" / "outputs"
    for kept in outputs.rglob("*.json"):
        page = (site / "notebooks" / kept.relative_to(outputs)).with_suffix(".html").read_text(encoding="utf-8")
        shown = sum(bool(cell["outputs"]) for cell in json.loads(kept.read_text(encoding="utf-8")).values())
        assert (kept.name, page.count('class="cell_output')) == (kept.name, shown)


def test_every_public_name_is_explained(site: Path) -> None:
    page = (site / "docs" / "api.html").read_text(encoding="utf-8")
    ours = {name for name in inplace_magic.__all__ if not name.endswith("load_ipython_extension")}
    assert {name for name in ours if f'id="inplace_magic.{name}"' not in page} == set()
    assert "Key of the box that is selected: " in page  # and its first words are not taken for a type


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    found = {path.name: LOADED.findall(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert {name: loads for name, loads in found.items() if loads} == {}


def test_chinese_pages_say_their_language_and_have_chinese_buttons(site: Path) -> None:
    page = (site / "docs" / "zh" / "faq.html").read_text(encoding="utf-8")
    assert 'lang="zh-CN"' in page
    assert "搜索" in page
    assert 'lang="en"' in (site / "docs" / "faq.html").read_text(encoding="utf-8")


def test_the_tree_beside_a_page_is_open_where_one_is(site: Path) -> None:
    """And closed everywhere else. Pages of a folder share theirs."""
    checked = ' checked="" class="toctree-checkbox"'
    for page, above in (
        ("notebooks/en/02_three_kinds", ["The course"]),
        ("docs/notebooks", ["The course"]),  # its own box
        ("docs/decisions/no-templates", ["How it works", "Decisions"]),
        ("docs/rules/alias-written", ["Findings"]),
        ("docs/zh/faq-paddle", ["原地操作常见问题"]),
        ("docs/memory", []),
        ("search", None),  # stands in no tree
    ):
        text = (site / page).with_suffix(".html").read_text(encoding="utf-8")
        tree = text[text.index('class="sidebar-tree"') : text.index("<article")]
        own = re.findall(
            r'<li class="toctree-l\d current(?: has-children)? current-page"><a class="([^"]*)" href="#">', tree
        )
        assert (page, own) == (page, [] if above is None else ["current reference internal"])
        assert re.findall(rf'aria-label="Toggle navigation of ([^"]*)"{checked}', tree) == (above or [])
        links = re.findall(r'<li class="toctree-[^>]*><a class="[^"]*" href="([^"#]+)">', tree)
        assert len(links) > 100
        assert tree.count('<li class="toctree-l1') <= 16, "what is seen before anything is unfolded"
        assert [link for link in links if not (site / page).parent.joinpath(link).resolve().is_file()] == []


QUERIES = {
    "from an English page": ("docs/faq.html", "ReLU", False),
    "from a Chinese page": ("docs/zh/faq.html", "ReLU", True),
    "in Chinese, from an English page": ("docs/index.html", "原地操作", True),
    "one Chinese word": ("docs/zh/notebooks.html", "显存", True),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = launch(playwright)
        if launched is None:
            pytest.skip(INSTALL)
        yield launched
        launched.close()


@pytest.mark.parametrize("where", QUERIES)
def test_a_search_finds_pages_of_one_language(site: Path, browser: Browser, where: str) -> None:
    page_name, query, chinese = QUERIES[where]
    page = browser.new_page()
    page.goto((site / page_name).as_uri())
    page.locator(".sidebar-search").fill(query)
    page.locator(".sidebar-search").press("Enter")
    page.wait_for_url("**/search.html?*")
    count = page.locator(".search-summary, #search-results > p").filter(has_text=re.compile(r"\d")).first.inner_text()
    found = page.locator("#search-results ul.search > li > a").evaluate_all("all => all.map(a => a.href)")
    page.close()
    assert re.findall(r"\d+", count) == [str(len(found))], "they are listed one by one, and counted at the end"
    assert {"/zh/" in address for address in found} == {chinese}


ANSWERS = {
    "modified by an inplace operation": "saved-tensor-overwritten",
    "Trying to backward through the graph a second time": "graph-used-twice",
    "leaf Variable that requires grad is being used in an in-place operation": "leaf-written",
}


@pytest.mark.parametrize("words", ANSWERS)
def test_a_search_for_an_error_gives_the_page_that_explains_it_first(site: Path, browser: Browser, words: str) -> None:
    page = browser.new_page()
    page.goto((site / "docs" / "index.html").as_uri())
    page.locator(".sidebar-search").fill(words)
    page.locator(".sidebar-search").press("Enter")
    page.wait_for_url("**/search.html?*")
    first = page.locator("#search-results ul.search > li > a").first.get_attribute("href") or ""
    page.close()
    assert f"/rules/{ANSWERS[words]}.html" in first


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Page\n\n[gone](gone.md)\n", encoding="utf-8")
    built = build(tmp_path, tmp_path / "built")
    assert built.returncode != 0
    assert "gone.md" in built.stderr
