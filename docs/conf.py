"""The documentation site: `make docs` builds it into build/site, without a network. Sphinx reads this file.

The source folder is the repository's root, so a link that leads somewhere on a code host leads to the same page here.
Notebooks are shown with the outputs that `notebooks/build.py --outputs` wrote; Sphinx executes nothing.
"""

from __future__ import annotations

import gc
import gettext
import re
import sys
from pathlib import Path
from typing import Any

import sphinx.locale

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs"), str(ROOT / "notebooks")]

import kept_outputs  # noqa: E402  # of notebooks/
import make_errors  # noqa: E402  # beside this file
import make_pages  # noqa: E402  # the same
import make_rules  # noqa: E402  # the same
import navigation  # noqa: E402  # the same
import search_words  # noqa: E402  # the same

# As in tests/conftest.py: to import jsonschema with this package takes seconds, for formats that no notebook has.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
# Hardly one of a million nodes is garbage before the end, and to look for it took a third of the time.
gc.disable()

RULES = make_rules.rules()
ERRORS = make_errors.errors()
smartquotes = False  # the texts of errors stay as PyTorch writes them
project = "inplace_magic"
author = "the inplace_magic contributors"
copyright = author
root_doc = "docs/index"
include_patterns = ["docs/**.md", "notebooks/**.ipynb"]
exclude_patterns = [".venv*", ".git", "build", "dist", "tests", "benchmarks", "inplace_magic", "**/.ipynb_checkpoints"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_render_markdown_format = "myst"
nb_merge_streams = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["lightning", "pytorch_lightning", "transformers"]
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "inplace_magic"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_additional_pages = {"index": "to_start.html"}
templates_path = ["_templates"]
html_context = {"errors": make_errors.asked()}


def _in_its_language(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Pages in a folder `zh` say so to the browser, and have the buttons of the theme in Chinese."""
    if "/zh/" not in page:
        return
    context["language"] = "zh-CN"
    words = gettext.translation("sphinx", Path(sphinx.locale.__file__).parent, ["zh_CN"], fallback=True)
    context["_"] = context["gettext"] = words.gettext
    context["ngettext"] = words.ngettext


def _codes_lead_to_their_pages(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """``<code>alias-written</code>``, in a report or in a sentence, is a link to the page of its rule or its error."""
    if "body" not in context:
        return
    errors = {error.code: f"{'zh/' if '/zh/' in page else ''}errors/{error.code}" for error in ERRORS}
    rules = {code: f"rules/{Path(rule.page).stem}" for rule in RULES for code in rule.codes}
    pages = {**rules, **errors} if "/zh/" in page else {**errors, **rules}
    addresses = {code: context["pathto"](f"docs/{name}") for code, name in pages.items()}
    codes = "|".join(map(re.escape, addresses))
    found = re.compile(rf"<a [^>]*>.*?</a>|<code[^>]*>(?:<span[^>]*>)?({codes})(?:</span>)?</code>", re.DOTALL)
    context["body"] = found.sub(
        lambda each: f'<a href="{addresses[each[1]]}">{each[0]}</a>' if each[1] else each[0], context["body"]
    )


def _with_its_outputs(app: Any, page: str, source: list[str]) -> None:
    """Put the outputs into a notebook that was run."""
    notebook = Path(app.srcdir, f"{page}.ipynb")
    if notebook.is_relative_to(ROOT / "notebooks"):
        kept = kept_outputs.beside(notebook)
        if kept.exists():  # the lesson of Paddle runs where Paddle is installed
            app.env.note_dependency(str(kept))
            source[0] = kept_outputs.put_back(source[0], kept.read_text(encoding="utf-8"))


def _with_its_place(app: Any, page: str, source: list[str]) -> None:
    """A page with what the tree knows of it. README, which only a code host shows, is the first page here."""
    source[0] = navigation.with_its_place(page, source[0].replace("(../../README.md)", "(../index.md)"))


def _with_made_pages(app: Any) -> None:
    """What is made of the code is made anew, where the site of this repository is built."""
    if Path(app.srcdir).samefile(ROOT):
        make_pages.write()


def _no_type_before_the_colon(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Napoleon takes ``Key of a box: …`` of an attribute for its type; an empty comment before it has no colon."""
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.add_search_language(search_words.SearchBoth)
    app.connect("builder-inited", _with_made_pages)
    app.connect("autodoc-process-docstring", _no_type_before_the_colon, priority=400)  # before napoleon's 500
    app.connect("source-read", _with_its_outputs)
    app.connect("source-read", _with_its_place)
    navigation.connect(app)
    app.connect("html-page-context", _in_its_language)
    app.connect("html-page-context", _codes_lead_to_their_pages)
