"""The tree of pages beside each page of the site, made once for each folder of pages: made anew for each of 190 pages,
it took half of the time of a build.

The theme makes the tree from links relative to a page, which are the same for all pages of a folder. What differs is
where one is: the page's own entry leads to ``#``, and what is above it is marked and open.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from sphinx.environment.adapters.toctree import global_toctree_for_doc

BELOW = {
    "docs/faq": ["faq-paddle"],
    "docs/zh/faq": ["faq-paddle"],
    "docs/zh/notebooks": ["README"],
    "docs/magics": ["front-ends"],
    "docs/scripts": ["tests", "machines", "gpus"],
    "docs/rules/index": ["*"],
    "docs/no-harm": ["security"],
    "docs/how-it-works": ["decisions/index", "dependencies", "CONTRIBUTING", "stability", "RELEASING", "CHANGELOG"],
}
"""Pages that stand below another one in the tree, so that a dozen stand at its top. Here, and not in the pages, because
those are read on a code host too."""
NOWHERE = "-"
"""Name of a page that no tree holds."""
TAG = re.compile(r"<(/?)(ul|li)\b[^>]*>")


def with_the_pages_below(page: str, text: str) -> str:
    """Return the text of a page with the links to those that :data:`BELOW` puts below it, for the tree alone."""
    if page not in BELOW:
        return text
    return "\n".join([text, "```{toctree}", ":hidden:", ":glob:", "", *BELOW[page], "```", ""])


def one_for_each_folder(app: Any) -> None:
    """Has the pages of a build share their trees."""

    @cache
    def tree(folder: str, **options: Any) -> str:
        page = f"{folder}{NOWHERE}"
        found = global_toctree_for_doc(app.env, page, app.builder, tags=app.tags, **options)
        return str(app.builder.render_partial(found)["fragment"])

    def of_its_folder(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
        context["toctree"] = lambda **options: tree(page[: page.rfind("/") + 1], **options)

    def with_its_place(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
        own = app.builder.get_target_uri(page).rpartition("/")[2]
        context["furo_navigation_tree"] = marked(context["furo_navigation_tree"], own)

    app.connect("html-page-context", of_its_folder, priority=400)  # the theme has 500
    app.connect("html-page-context", with_its_place, priority=600)


def marked(tree: str, address: str) -> str:
    """The tree as Sphinx and the theme mark it on the page with this address; as it is, if that is not in it."""
    link = re.search(f'<a class="(?=reference internal" href="{re.escape(address)}")', tree)
    if link is None:
        return tree
    above: list[re.Match[str]] = []
    for tag in TAG.finditer(tree, 0, link.start()):
        if tag[1]:
            above.pop()
        else:
            above.append(tag)
    added = [(above[-1].end() - 2, " current-page"), (link.end(), "current ")]
    for tag in above:
        if tag[2] == "ul":
            added.append((tag.end() - 1, ' class="current"'))
            continue
        added.append((tree.index("toctree-l", tag.start()) + len("toctree-l1"), " current"))
        if "has-children" in tag[0]:  # its box comes before those of its children
            added.append((tree.index(' class="toctree-checkbox"', tag.end()), ' checked=""'))
    for place, text in sorted(added, reverse=True):
        tree = tree[:place] + text + tree[place:]
    return tree.replace(
        f'<a class="current reference internal" href="{address}"', '<a class="current reference internal" href="#"'
    )
