"""What is checked and said of a diff before anybody tries it: it compiles, binds each name before reading it, covers
every write, and its sentence tells the changed lines.

``out = net(x)`` that is moved into ``for part in out.unbind(1):`` would be read before it is there. ``a = a * 2`` in
the place of ``a.mul_(2)`` cures nothing where ``b.mul_(2)`` writes another slice of what was saved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.out_of_place import target_of
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.language import _
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import root_name
from inplace_magic.source.hunks import Hunk, hunks
from inplace_magic.source.listing import FUNCTIONS, Edit, Listing

_COPIES = re.compile(r"\.(clone|copy)\(\)")
_FLAG = re.compile(r"inplace=[^,()]+|\bTrue\b")
_IN_PLACE = re.compile(r"[^_\W]_\(|\bout=|\.data\b")


def holds(write: Written, fix: Fix) -> bool:
    """Whether nothing on paper speaks against a fix.

    Args:
        write: of the finding.
        fix: a change of the user's lines.
    """
    return _binds_before_it_reads(fix.listing, fix.edits) and not _leaves_a_write(write, fix)


def _binds_before_it_reads(listing: Listing, edits: Sequence[Edit]) -> bool:
    """Whether the changed text compiles, and reads no name earlier than it is bound that was bound earlier before."""
    if not listing.whole:
        return True
    rows = ["" if text.lstrip().startswith(("%", "!")) else text for text in listing.lines]
    for edit in sorted(edits, key=lambda edit: -edit.first):
        rows[edit.first - 1 : edit.last] = edit.new
    try:
        tree = ast.parse("\n".join(rows))
    except SyntaxError:
        return not _is_plain(listing)  # a magic that is not seen through here
    known = {name for name, is_read in _uses(listing.tree.body) if not is_read}
    new = _read_first(tree) - _read_first(listing.tree)
    return not any(function or name in known for function, name in new)  # a cell may read what an earlier one bound


def _is_plain(listing: Listing) -> bool:
    try:
        ast.parse("\n".join("" if text.lstrip().startswith(("%", "!")) else text for text in listing.lines))
    except SyntaxError:
        return False
    return True


def _read_first(tree: ast.Module) -> set[tuple[str, str]]:
    """(function, name) of what a function binds, and reads before that as its text goes."""
    found: set[tuple[str, str]] = set()
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))):
        arguments = ast.walk(scope.args) if isinstance(scope, FUNCTIONS) else ()
        given = {node.arg for node in arguments if isinstance(node, ast.arg)}
        first: dict[str, bool] = {}
        bound: set[str] = set()
        for name, is_read in _uses(scope.body):
            first.setdefault(name, is_read)
            bound |= set() if is_read else {name}
        found |= {(getattr(scope, "name", ""), name) for name in bound - given if first[name]}
    return found


def _uses(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, bool]]:
    """Yield (name, whether it is read) as the statements come to it; what functions inside do, they do later."""
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id, isinstance(node.ctx, ast.Load)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.name, False
        elif isinstance(node, ast.Assign):
            yield from _uses([node.value, *node.targets])
        elif isinstance(node, ast.AugAssign):
            yield from ((name, True) for name, _read in _uses([node.target]))
            yield from _uses([node.value, node.target])
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            yield from _uses([node.iter, node.target, *node.body, *node.orelse])
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            yield from _of_a_comprehension(node)
        elif not isinstance(node, ast.Lambda):
            yield from _uses(list(ast.iter_child_nodes(node)))


def _of_a_comprehension(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
) -> Iterator[tuple[str, bool]]:
    own = {name for part in node.generators for name, _read in _uses([part.target])}
    yield from (use for use in _uses(list(ast.iter_child_nodes(node))) if use[0] not in own)


def _leaves_a_write(write: Written, fix: Fix) -> bool:
    """Whether a fix at the line that writes leaves another line writing what was saved, by a name of its own."""
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
    """The name before the first dot or bracket of what a line plainly writes."""
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
