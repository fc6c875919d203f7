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
    subprocess.run([sys.executable, "notebooks/build.py", "--outputs", "quickstart"], cwd=ROOT, check=True)
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
    outputs = ROOT / "build" / "outputs"
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


def test_the_tree_beside_a_page_has_a_dozen_links_and_those_below_where_one_is(site: Path) -> None:
    for page, below in (
        ("docs/index", 0),
        ("docs/fixes", 0),
        ("docs/rules/alias-written", 0),
        ("docs/errors/leaf-written", 0),
        ("search", 0),
        ("docs/zh/errors/leaf-written", 0),
        ("docs/zh/faq-paddle", 5),
        ("notebooks/en/02_three_kinds", 12),
        ("docs/notebooks", 12),
    ):
        text = (site / page).with_suffix(".html").read_text(encoding="utf-8")
        tree = text[text.index('class="sidebar-tree"') : text.index("<article")]
        assert tree.count('<li class="toctree-l1') <= 12
        assert (page, len(re.findall(r'<li class="toctree-l[2-9]', tree))) == (page, below)
        links = re.findall(r'<li class="toctree-[^>]*><a class="[^"]*" href="([^"#]+)">', tree)
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
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.cuda.FloatTensor [64, 512, 7, 7]], which is output 0 of ReluBackward0, is at version 3; expected version 2 "
    "instead.": "saved-tensor-overwritten",
    "leaf Variable that requires grad is being used in an in-place operation": "leaf-written",
    "Trying to backward through the graph a second time": "graph-used-twice",
    "element 0 of tensors does not require grad and does not have a grad_fn": "loss-without-graph",
    "grad can be implicitly created only for scalar outputs": "loss-not-scalar",
    "RuntimeError: Output 1 of UnbindBackward0 is a view and is being modified inplace. This view is the output of a "
    "function that returns multiple views.": "multi-output-view-written",
    "Can't call numpy() on Tensor that requires grad": "numpy-of-a-tensor-with-gradient",
    "output with shape [1, 28, 28] doesn't match the broadcast shape [3, 28, 28]": "written-with-another-shape",
    "(graph leaves) support the deepcopy protocol at the moment": "copied-with-its-graph",
    "ValueError: can't optimize a non-leaf Tensor": "optimizer-of-a-result",
    "One of the differentiated Tensors appears to not have been used in the graph": "input-not-in-graph",
}
"""What people search for, and the code of the error whose page comes first."""
SEARCHED = """queries => queries.map((query) => Search._performSearch(...Search._parseQuery(query)).at(-1)?.[0])"""


@pytest.mark.parametrize(
    ("start", "folder"), [("docs/index.html", "docs/errors"), ("docs/zh/faq.html", "docs/zh/errors")]
)
def test_a_search_for_an_error_gives_its_page_first(site: Path, browser: Browser, start: str, folder: str) -> None:
    page = browser.new_page()
    page.goto((site / start).as_uri())
    page.locator(".sidebar-search").fill(next(iter(ANSWERS)))
    page.locator(".sidebar-search").press("Enter")
    page.wait_for_url("**/search.html?*")
    shown = page.locator("#search-results ul.search > li > a").first.get_attribute("href") or ""
    first = dict(zip(ANSWERS, page.evaluate(SEARCHED, list(ANSWERS)), strict=True))
    page.close()
    assert shown.endswith(f"{folder.removeprefix('docs/')}/saved-tensor-overwritten.html")
    assert first == {query: f"{folder}/{code}" for query, code in ANSWERS.items()}


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Page\n\n[gone](gone.md)\n", encoding="utf-8")
    built = build(tmp_path, tmp_path / "built")
    assert built.returncode != 0
    assert "gone.md" in built.stderr
