"""The visible part of a picture, for an ``<img>``, and apart from it the invisible part.

An arrow of the graph is a group of its own with a line, a head and the keys of its ends, because a script lights it up
alone. Seen from outside all arrows of one look are one line and one head. So an embedded picture has no titles and no
``data-`` attributes, plain groups of one class are one *bundle*, behind everything else, and a class such as ``n`` that
begins the name of a look as well (``n n34ba``) goes. ``js/page.js`` makes the whole picture of it again, with what was
taken out, which is a third of its size where it travels packed.
"""

from __future__ import annotations

import re

_PLAIN = re.compile(
    r"""<g class="(?P<look>[em] [^"]*)"(?P<data>[^>]*)>(?P<title><title>[^<]*</title>)?"""
    r"""(?P<paths>(?:<path d="M[^M"]*"/>)+)</g>"""
)
"""A group of nothing but paths, each in one piece."""
_PATH = re.compile(r'd="([^"]*)"')
_TWICE = re.compile(r'(?<=<g class=")(B )?([nek]) (?=\2)')
_BEARER = re.compile(
    r"""(?P<start><(?:svg|g(?! class="B ))[^>]*?)(?P<data>(?: data-[a-z]+="[^"]*")*)>"""
    r"(?P<title><title>[^<]*</title>)?"
)
"""A tag that may bear a title and, as its last attributes, ``data-`` ones."""


def embedded(svg: str) -> tuple[str, list[list[str]]]:
    """Return the picture for an ``<img>``, and what a script needs to make the whole one of it.

    Args:
        svg: the picture; in a tag ``data-`` attributes come last.

    Returns:
        The picture, and two lists of what belongs in the place of a tag's ``>``: of its tags in their order, and of the
        groups that its bundles stand for, in theirs.
    """
    bundles: dict[str, list[tuple[str, list[str]]]] = {}
    tags: list[str] = []

    def unseen(found: re.Match[str]) -> str:
        return f"{found['data']}>"

    def bundled(found: re.Match[str]) -> str:
        paths = _PATH.findall(found["paths"])
        bundles.setdefault(f"{found['look']} {len(paths)}", []).append((unseen(found), paths))
        return ""

    def bared(found: re.Match[str]) -> str:
        tags.append(unseen(found))
        return f"{found['start']}>"

    rest = _PLAIN.sub(bundled, svg).removesuffix("</svg>")
    together = "".join(
        f'<g class="B {look.rpartition(" ")[0]}">'
        + "".join(f'<path d="{"".join(same)}"/>' for same in zip(*(paths for _, paths in groups), strict=True))
        + "</g>"
        for look, groups in bundles.items()
    )
    shown = _TWICE.sub(lambda found: found[1] or "", f"{_BEARER.sub(bared, rest)}{together}</svg>")
    return shown, [tags, [said for groups in bundles.values() for said, _ in groups]]
