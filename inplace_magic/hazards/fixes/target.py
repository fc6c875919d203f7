"""The statement that a finding blames, with what is known of the lines around it; and a fix, whose sentence tells the
changed lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text, variables_in
from inplace_magic.source.hunks import Hunk, diff, hunks
from inplace_magic.source.listing import Edit, Listing, listing_of
from inplace_magic.source.out_of_place import cloned, target_of

Change = tuple[ast.expr, str]
"""An expression, and the text that takes its place."""
_COPIES = re.compile(r"\.(clone|copy)\(\)")
_FLAG = re.compile(r"inplace=[^,()]+|\bTrue\b")
_IN_PLACE = re.compile(r"[^_\W]_\(|\bout=|\.data\b")


@dataclass(frozen=True)
class Fix:
    """A change of the user's lines that cures one finding."""

    site: Callsite
    """Any place in the text that is changed."""
    listing: Listing
    edits: tuple[Edit, ...]
    price_bytes: int | None = None
    sentence: str = ""
    """Says what the change does; empty where the rule's own advice says it."""

    @property
    def diff(self) -> str:
        """The changed lines, with a header for each that says where."""
        return diff(self.site, self.listing, self.edits)

    def offered(self, hazard: Hazard, otherwise: str) -> Hazard:
        """Return the finding with this fix; `otherwise` says what it does where its sentence and its lines do not."""
        text = self.diff
        return replace(hazard, diff=text, price_bytes=self.price_bytes, fix=self.sentence or said_of(text) or otherwise)


@dataclass(frozen=True)
class Written:
    """A write, its statement and its variable."""

    story: Story
    hazard: Hazard
    site: Callsite
    listing: Listing
    statement: ast.stmt
    call: CallEvent | None
    path: str | None
    """The written variable as the line says it: ``x``, ``self.memory``, ``maps[1]``; None where it says none."""
    meta: TensorMetadata | None = None
    """The written tensor when the write began."""
    mutation: Mutation | None = None
    another_name_sees_it: bool = False
    """That is what the finding is about; so only the writing name shall have the new values."""

    @property
    def nbytes(self) -> int | None:
        """Of the written tensor, which a copy of it costs."""
        return self.meta.nbytes if self.meta is not None else None

    @property
    def is_of_a_leaf(self) -> bool:
        """True if the written tensor is a leaf that requires grad."""
        return self.meta is not None and self.meta.is_trainable

    def loads_after(self, path: str) -> Iterator[ast.expr]:
        """The places that read a variable once the statement has run, in its function or, outside of one, its cell."""
        listing, statement = self.listing, self.statement
        scope = listing.scope_of(statement)
        loop = listing.loop_around(statement)
        header = targets_of(loop)
        in_loop = loop is not None and listing.scope_of(loop) is scope and path.split("[")[0] not in header
        inside = set(ast.walk(loop)) if loop is not None else set()
        own = set(ast.walk(statement))
        for node in _loads(scope).get(path, ()):
            if node in own:
                continue
            later = (node.lineno, node.col_offset) > (statement.lineno, statement.col_offset)
            if not in_loop and path in header:
                later = later and node in inside
            if later or (in_loop and node in inside):
                yield node

    def is_read_after(self, path: str) -> bool:
        """True if there is such a place."""
        return next(self.loads_after(path), None) is not None

    def fix(self, edit: Edit | None, price: int | None = None, sentence: str = "") -> Fix | None:
        """The fix of one edit in the text of the write; None where it could not be made."""
        return Fix(self.site, self.listing, (edit,), price, sentence) if edit is not None else None

    def rewritten(self, text: str | None, price: int | None = None, sentence: str = "") -> Fix | None:
        """The fix that puts this text in the place of the statement; None without a text, or where it could not be."""
        edit = self.listing.replace(self.statement, text) if text is not None else None
        return self.fix(edit, price, sentence)

    def substituted(self, changes: Iterable[Change], price: int | None = None, sentence: str = "") -> Fix | None:
        """The fix that replaces some expressions in the text of the write."""
        return fix_of(self.site, self.listing, changes, price, sentence)

    def copied(self, *values: ast.expr) -> Fix | None:
        """The fix that copies what some expressions give, at the price of the tensor that was written."""
        return self.substituted([cloned(self.listing, value) for value in values], self.nbytes)

    @property
    def expression(self) -> ast.expr | None:
        """The expression that made the writing call."""
        return self.listing.expression_at(self.site)


@dataclass(frozen=True)
class Text:
    """An expression of the user's, and the text around it."""

    site: Callsite
    listing: Listing
    node: ast.expr

    def replaced(self, new: str | None, price: int | None = None, sentence: str = "") -> Fix | None:
        """The fix that puts this text in the place of the expression."""
        return fix_of(self.site, self.listing, [(self.node, new)] if new is not None else (), price, sentence)

    def copied(self, price: int | None = None, sentence: str = "") -> Fix | None:
        """The fix that copies what the expression gives."""
        return fix_of(self.site, self.listing, [cloned(self.listing, self.node)], price, sentence)


def text_at(story: Story, site: Callsite | None) -> Text | None:
    """Return the expression that made the call at a place, in the text around it."""
    listing = listing_of(story.trace, site)
    node = listing.expression_at(site) if listing is not None and site is not None else None
    return Text(site, listing, node) if site is not None and listing is not None and node is not None else None


def fix_of(
    site: Callsite, listing: Listing, changes: Iterable[Change], price: int | None = None, sentence: str = ""
) -> Fix | None:
    """The fix that replaces some expressions, by one edit for each line; None where there is none, or one of them
    cannot be made, such as a copy of what a line unpacks: ``first, second = results()`` gives no tensor to clone."""
    by_line: dict[int, dict[int, Change]] = {}
    for node, new in changes:
        parent = listing.parents.get(node)
        unpacked = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], (ast.Tuple, ast.List))
        if unpacked and new.endswith(".clone()"):
            return None
        by_line.setdefault(node.lineno, {})[node.col_offset] = (node, new)
    edits = [listing.substitute(line.values()) for line in by_line.values()]
    made = tuple(edit for edit in edits if edit is not None)
    return Fix(site, listing, made, price, sentence) if made and all(edits) else None


def above(statement: ast.stmt, *lines: str) -> Edit:
    """Lines put in above a statement."""
    return Edit(statement.lineno, statement.lineno - 1, lines)


def below(statement: ast.stmt, *lines: str) -> Edit:
    """Lines put in below a statement."""
    end = statement.end_lineno or statement.lineno
    return Edit(end + 1, end, lines)


def removed(statement: ast.stmt) -> Edit:
    """A statement's lines taken out."""
    return Edit(statement.lineno, statement.end_lineno or statement.lineno, ())


def indented(listing: Listing, statements: Sequence[ast.stmt], indent: str) -> tuple[str, ...]:
    """Return the lines of statements, each with this white space before it."""
    pairs = ((len(listing.indent(each)), line) for each in statements for line in listing.whole_lines(each))
    return tuple(f"{indent}{line[own:]}" for own, line in pairs)


def written(story: Story, hazard: Hazard, *, another_name_sees_it: bool = False) -> Written | None:
    """Return what is known of the write of a finding; None where its statement is not known."""
    site = hazard.mutation
    listing = listing_of(story.trace, site)
    statement = listing.statement_at(site) if listing is not None and site is not None else None
    if site is None or listing is None or statement is None:
        return None
    call = story.calls.get(hazard.call)
    if call is None or hazard.tensor is None:
        return Written(story, hazard, site, listing, statement, None, _path_of(statement))
    node = story.bindings.written_operand(call, hazard.tensor)
    meta = next((m for m in (*call.inputs, *call.mutated) if m.tensor == hazard.tensor), None)
    mutation = next((m for m in call.mutations if m.tensor == hazard.tensor), None)
    path = path_text(node) if site.direct and not call.does("of lists") else None  # there the line names a list
    if path is None and site.direct and call.does("sets item"):
        path = _path_of(statement)
    return Written(story, hazard, site, listing, statement, call, path, meta, mutation, another_name_sees_it)


def _path_of(statement: ast.stmt) -> str | None:
    target = target_of(statement)
    into = isinstance(statement, ast.Assign) and isinstance(target, ast.Subscript)
    return path_text(target.value if into and isinstance(target, ast.Subscript) else target)


@lru_cache(maxsize=8)
def _loads(scope: ast.AST) -> dict[str | None, list[ast.Name | ast.Attribute | ast.Subscript]]:
    """Return the places of a function that read variables, by path: of a long cell each finding asks."""
    named = (node for node in ast.walk(scope) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)))
    return grouped((path_text(node), node) for node in named if isinstance(node.ctx, ast.Load))


def targets_of(loop: ast.AST | None) -> set[str]:
    """Return the variables of a loop's header."""
    return variables_in(loop.target) if isinstance(loop, (ast.For, ast.AsyncFor)) else set()


def said_of(text: str) -> str:
    """What a diff of one statement does, in one sentence; empty for a diff that needs words of its own.

    Example:
        >>> said_of("@@ Cell In[4], line 2 @@\\n-h += 1\\n+h = h + 1")
        'Make a new tensor: write `h = h + 1` instead of `h += 1`.'
    """
    changes = [hunk for hunk in hunks(text) if not _imports(hunk)]
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
