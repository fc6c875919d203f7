"""The words of the site's search: of English as Sphinx has them, of Chinese, which has no spaces, pairs of letters."""

from __future__ import annotations

import re
from functools import cache

from sphinx.search.en import SearchEnglish

HAN = r"\u3400-\u9fff"
_PIECES = re.compile(rf"[{HAN}]+|[^\W{HAN}]+")


class SearchBoth(SearchEnglish):
    """English words, and pairs of Chinese letters: a search for one word finds it within any sentence."""

    js_splitter_code = rf"""
var splitQuery = (query) => (query.match(/[{HAN}]+|[^\s{HAN}]+/g) || []).flatMap((piece) =>
  /[{HAN}]/.test(piece)
    ? piece.length < 3 ? [piece] : Array.from({{ length: piece.length - 1 }}, (_, n) => piece.slice(n, n + 2))
    : piece.split(/[^\p{{Letter}}\p{{Number}}_\p{{Emoji_Presentation}}]+/gu).filter((term) => term));
"""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.stem = cache(self.stem)  # of the same words on page after page, an eighth of a build's time

    def split(self, input: str) -> list[str]:
        """The words of a text."""
        return [word for piece in _PIECES.findall(input) for word in _words(piece)]


def _words(piece: str) -> list[str]:
    if not re.match(f"[{HAN}]", piece):
        return [piece]
    return [piece[n : n + 2] for n in range(max(len(piece) - 1, 1))]
