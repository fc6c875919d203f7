"""What is checked and said of a diff before anybody tries it: it covers every write, and its sentence tells the changed
lines.

``a = a * 2`` in the place of ``a.mul_(2)`` cures nothing where ``b.mul_(2)`` writes another slice of what was saved.
"""

from __future__ import annotations

import ast
import re

from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.language import _
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import root_name
from inplace_magic.source.hunks import Hunk, hunks
from inplace_magic.source.listing import Listing
from inplace_magic.source.out_of_place import target_of

_COPIES = re.compile(r"\.(clone|copy)\(\)")
_FLAG = re.compile(r"inplace=[^,()]+|\bTrue\b")
_IN_PLACE = re.compile(r"[^_\W]_\(|\bout=|\.data\b")


def leaves_a_write(write: Written, fix: Fix) -> bool:
    """True if a fix at the line that writes leaves another line writing what was saved, by a name of its own."""
    path, first = write.path, write.statement
    lines = {line for edit in fix.edits for line in range(edit.first, max(edit.last, edit.first) + 1)}
    if write.hazard.saved is None or path is None or first.lineno not in lines or write.mutation is None:
        return False
    root = path.partition(".")[0].partition("[")[0]
    after = write.story.writes.get(write.mutation.counter, ()) if write.mutation.counter is not None else ()
    for other in after:
        site, mutation = other.site, other.mutation
        if site is None or mutation is None or other.call is None or write.call is None:
            continue
        if other.call.index <= write.call.index or not site.same_function(write.site) or site.line in lines:
            continue
        made_later = write.story.first_seen(mutation.tensor) > write.call.index
        if not made_later and _root_written(write.listing, site) not in (root, None):
            return True
    return False


def _root_written(listing: Listing, site: Callsite) -> str | None:
    """Return the name before the first dot or bracket of what a line plainly writes."""
    target = target_of(listing.statement_at(site))
    while isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
        target = target.func.value
    return root_name(target)


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
    return said.format(new=wording.code(new[0].rstrip(",")), old=wording.code(old[0].rstrip(",")))


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
    """True if a statement writes in place, as its text says it."""
    try:
        statement = ast.parse(line).body[0]
    except (SyntaxError, IndexError):  # the head of a block, a part of a statement
        return bool(_IN_PLACE.search(line))
    return isinstance(statement, ast.AugAssign) or bool(_IN_PLACE.search(line))


def _imports(hunk: Hunk) -> bool:
    """True if all that it adds is imports."""
    return set(hunk.new) > set(hunk.old) and all(
        line.lstrip().startswith(("import ", "from ")) for line in hunk.new if line not in hunk.old
    )
