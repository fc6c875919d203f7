"""The sentence of a fix, told from its diff: what a reader is advised to do is what the changed lines do."""

from __future__ import annotations

import ast
import re

from inplace_magic.hazards import wording
from inplace_magic.language import _
from inplace_magic.source.hunks import Hunk, hunks

_COPIES = re.compile(r"\.(clone|copy)\(\)")
_FLAG = re.compile(r"inplace=[^,()]+|\bTrue\b")
_IN_PLACE = re.compile(r"[^_\W]_\(|\bout=|\.data\b")


def said_of(diff: str) -> str:
    """What a diff of one statement does, in one sentence; empty for a diff that needs words of its own.

    Example:
        >>> said_of("@@ Cell In[4], line 2 @@\\n-h += 1\\n+h = h + 1")
        'Make a new tensor: write `h = h + 1` instead of `h += 1`.'
    """
    changes = [hunk for hunk in hunks(diff) if not _imports(hunk)]
    if len(changes) != 1:
        return ""
    old, new = (tuple(line.strip() for line in lines) for lines in (changes[0].old, changes[0].new))
    if len(old) != 1 or not 1 <= len(new) <= 2:
        return ""
    if len(new) == 2:
        copied = new[1] == old[0] and re.fullmatch(r"(\S+) = \1\.(clone|copy)\(\)", new[0])
        said = _("Write into a copy: put {new} before {old}.") if copied else ""
    else:
        said = _of_a_line(old[0], new[0])
    return said.format(new=wording.code(new[0]), old=wording.code(old[0]))


def _of_a_line(old: str, new: str) -> str:
    if len(_COPIES.findall(new)) > len(_COPIES.findall(old)):
        return _("Make a copy: write {new}.")
    if "deepcopy(" in new and "deepcopy(" not in old:
        return _("Copy the whole object: write {new}.")
    if "False" in new and _FLAG.sub("", old) == re.sub(r"inplace=False|\bFalse\b", "", new):
        return _("Let the layer give a new tensor: write {new}.")
    if _writes(old) and not _writes(new):
        return _("Make a new tensor: write {new} instead of {old}.")
    return _("Write {new} instead of {old}.")


def _writes(line: str) -> bool:
    """Whether a statement writes in place, as its text says it."""
    try:
        statement = ast.parse(line).body[0]
    except (SyntaxError, IndexError):  # the head of a block, a part of a statement
        return bool(_IN_PLACE.search(line))
    return isinstance(statement, ast.AugAssign) or bool(_IN_PLACE.search(line))


def _imports(hunk: Hunk) -> bool:
    """Whether all that it adds is imports."""
    return set(hunk.new) > set(hunk.old) and all(
        line.lstrip().startswith(("import ", "from ")) for line in hunk.new if line not in hunk.old
    )
