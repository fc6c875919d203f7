"""The files in ``js``, read and made smaller for a page."""

from __future__ import annotations

import re
from importlib.resources import files

_SIGNS = r"[-=+*/<>?:&|!(){}\[\];,]"
_PIECES = re.compile(
    r"""(?P<whole>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`"""  # strings
    r"""|(?:(?<=[(,=])|(?<=[(,=] ))/(?![*/])(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n])+/[a-z]*)"""  # regular expressions
    r"""|/\*.*?\*/"""
    rf"""|(?<![-+])[ ]+(?={_SIGNS})|(?<={_SIGNS})[ ]+(?![-+ ])""",  # `a - -b` is not `a--b`
    re.DOTALL,
)

_NEEDLESS_BREAK = re.compile(r"(?<=[{(;,])\n")


def text_of(name: str) -> str:
    """A file in ``js``, as it stands there."""
    return files("inplace_magic.render").joinpath(f"js/{name}").read_text(encoding="utf-8")


def minified(script: str) -> str:
    """A script of ours without comments, indentation and spaces around signs; no name and no string is changed."""
    kept = _PIECES.sub(lambda piece: piece["whole"] or "", script)
    lines = "\n".join(line for line in (line.strip() for line in kept.splitlines()) if line)
    return _NEEDLESS_BREAK.sub("", lines)
