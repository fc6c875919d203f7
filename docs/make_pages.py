"""Writes the pages of the site that are made of the code: of findings, of errors, of magics.

    python docs/make_pages.py

A build of the site does so first (``conf.py``). The pages lie where git ignores them; only the site and a page that is
made link to them, and ``docs/index.md``, the site's first page. Elsewhere the code of a finding or an error is enough:
the site makes a link of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS)]

import make_errors  # noqa: E402  # beside this file
import make_magics  # noqa: E402  # the same
import make_rules  # noqa: E402  # the same

FOLDERS = ("rules", "errors", "zh/errors")
"""Folders in docs/ in which each page is made."""
FILES = ("magics.md", "zh/magics.md")
"""Pages in docs/ that are made and stand alone."""


def pages() -> dict[str, str]:
    """Return the text of each page, by its path in docs/."""
    return {**make_rules.pages(), **make_errors.pages(), **make_magics.pages()}


def write(to: Path = DOCS) -> int:
    """Write the pages that differ, take away those that nothing makes any more, and return how many there are."""
    made = pages()
    for folder in FOLDERS:
        for path in (to / folder).glob("*.md"):
            if path.relative_to(to).as_posix() not in made:
                path.unlink()
    for name, text in made.items():
        path = to / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return len(made)


if __name__ == "__main__":
    print(f"{write()} pages are written in docs/.", file=sys.stderr)
