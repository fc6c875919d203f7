"""The page of a package index, made from README.md when the package is built (a metadata hook of hatchling's).

README.md links to files beside it, which an index does not have. Where ``[project.urls]`` names a ``Repository``, these
links and pictures become absolute addresses there; where it does not, links become their text and pictures are left
out. What README.md says of installing from a checkout becomes the command for an index.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

CHECKOUT = ", in a checkout:\n\n    pip install .\n"
INDEX = ":\n\n    pip install inplace_magic\n"
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
LANGUAGES = re.compile(r"^English \| .*\n\n", re.MULTILINE)
LINKS_ALONE = re.compile(r"^## More\n.*\Z", re.DOTALL | re.MULTILINE)
"""The closing section, which is nothing without its links."""


def page(readme: str, repository: str | None, version: str) -> str:
    """Return the text of an index's page.

    Args:
        readme: README.md.
        repository: the project's address on a code host; None: it has none.
        version: of the package; its tag is `v` and the version.
    """
    text = readme.replace(CHECKOUT, INDEX)
    if repository is None:
        text = LINKS_ALONE.sub("", LANGUAGES.sub("", text)).rstrip() + "\n"

    def link(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        if repository is not None:
            return f"{picture}[{words}]({repository.rstrip('/')}/{'raw' if picture else 'blob'}/v{version}/{target})"
        return "" if picture else words

    prose = [part if part.startswith("```") else LINK.sub(link, part) for part in FENCE.split(text)]
    return re.sub(r"\n{3,}", "\n\n", "".join(prose))


class ReadmeForIndex(MetadataHookInterface):
    """Fills in ``readme``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling with the table ``project``."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = page(readme, metadata.get("urls", {}).get("Repository"), metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
