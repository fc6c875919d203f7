"""The tree of pages beside each page of the site: the dozen at its top, and below where one is what stands there."""

from __future__ import annotations

import re
from typing import Any

BELOW = {
    "docs/faq": ["faq-paddle"],
    "docs/zh/README": ["notebooks", "faq", "errors/index", "magics"],
    "docs/zh/faq": ["faq-paddle"],
    "docs/magics": ["front-ends", "memory"],
    "docs/api": ["tables"],
    "docs/scripts": ["tests", "machines", "gpus", "paddle"],
    "docs/how-it-works": [
        "in-detail",
        "no-harm",
        "security",
        "stability",
        "decisions/index",
        "dependencies",
        "CONTRIBUTING",
        "RELEASING",
        "CHANGELOG",
    ],
}
"""Pages that stand below another one in the tree, so that a dozen stand at its top. Here, and not in the pages, because
those are read on a code host too."""
MANY = re.compile(r"(docs/(?:rules|errors|zh/errors)/)(?!index$)")
"""A page of a folder that its index lists, and no tree: there are too many."""


def with_its_place(page: str, text: str) -> str:
    """Return the text of a page with the links to those that :data:`BELOW` puts below it, for the tree alone."""
    if MANY.match(page):
        return f"---\norphan: true\n---\n\n{text}"
    if page not in BELOW:
        return text
    return "\n".join([text, "```{toctree}", ":hidden:", "", *BELOW[page], "```", ""])


def short_tree(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Have the theme make the tree of a page without what stands below the pages that one is not at."""
    whole = context["toctree"]
    context["toctree"] = lambda **options: whole(**{**options, "collapse": True})


def connect(app: Any) -> None:
    """Called by ``conf.py``."""
    app.connect("html-page-context", short_tree, priority=400)  # the theme has 500
