"""The elements of a page."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from inplace_magic.render import to_mimebundle
from inplace_magic.report import Report


def to_fragment(report: Report, **settings: Any) -> str:
    """The HTML of a report in a notebook's output."""
    return to_mimebundle(report, **settings)["text/html"]


class Elements(HTMLParser):
    """Tags with their attributes, the text outside of scripts, and what was left open."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("img", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" not in self.open:
            self.text += data

    @property
    def graphs(self) -> list[dict[str, str | None]]:
        """The attributes of the autograd graph's ``<img>``, if there is one."""
        return [attributes for tag, attributes in self.found if attributes.get("class") == "inplace-magic-graph"]

    def attribute(self, tag: str, name: str) -> list[str | None]:
        return [attributes.get(name) for found, attributes in self.found if found == tag]
