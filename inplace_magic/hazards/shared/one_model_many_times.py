"""A loop over several models ran one and the same model each time, on the same input.

``[nn.Linear(4, 1)] * 5`` makes one layer and five references to it, and a list to which a model was appended five times
holds one model. An ensemble of those agrees with itself.

Bad::

    members = nn.ModuleList([nn.Linear(4, 1)] * 5)
    spread = torch.stack([member(x) for member in members]).std(0)      # zero

Good::

    members = nn.ModuleList([nn.Linear(4, 1) for _ in range(5)])
    spread = torch.stack([member(x) for member in members]).std(0)

Told from the record, and from the text of one loop: what is called is the loop's own variable; in all passes of one run
of the loop the line got the same parameters and the same other tensors, and nobody wrote either in between. Silent
where the input is another one each time, as where layers that share their weights run one after the other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import LOOPS, Listing, texts, whole_listing
from inplace_magic.source.variables import mentions

CODE = "one-model-many-times"

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_FEW = 64
"""Passes of one line that are looked at."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that runs the model."""
    runs: dict[Callsite, list[CallEvent]] = {}
    full: set[int] = set()  # by `id` of the place, of which a loop has few
    for index in story.training:
        call = story.calls[index]
        site = call.callsite
        if site is None or id(site) in full or call.error is not None:
            continue
        many = True
        for place in filter(_is_call, site.chain):
            entries = runs.setdefault(place, [])
            if len(entries) < _FEW:
                entries.append(call)
                many = False
        if many:
            full.add(id(site))
    for place, calls in runs.items():
        if len(calls) < 2:
            continue
        found = _loop_around(story, place)
        same = _ran_again(story, calls, place, found[0]) if found is not None else None
        if found is not None and same is not None:
            yield _hazard(story, place, found[1], *same)


def _is_call(place: Callsite) -> bool:
    node = expressions.parse(place.expression)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _loop_around(story: Story, place: Callsite) -> tuple[ast.AST, ast.expr] | None:
    """The innermost loop around a call of its own variable, and what it goes through."""
    listing = whole_listing(story.trace, place)
    node = listing.expression_at(place) if listing is not None else None
    if listing is None or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    for above in listing.around(node):
        if isinstance(above, _COMPREHENSIONS):
            last = above.generators[-1]
            return (above, last.iter) if mentions(last.target, node.func.id) and not _counts(last.iter) else None
        if isinstance(above, LOOPS):
            own = isinstance(above, (ast.For, ast.AsyncFor)) and mentions(above.target, node.func.id)
            return (above, above.iter) if own and isinstance(above, (ast.For, ast.AsyncFor)) else None
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return None
    return None


def _counts(over: ast.expr) -> bool:
    return isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"


def _ran_again(
    story: Story, calls: list[CallEvent], place: Callsite, loop: ast.AST
) -> tuple[CallEvent, CallEvent] | None:
    """The first two calls by which one run of the loop got the same from the same; None where a pass got other
    parameters."""
    parameters, given = _parameters(calls[0]), _given(calls[0])
    alike = [call for call in calls if _given(call) & given]  # of several models each gets the input
    for one, other in pairwise(alike):
        if not one.modules or one.modules != other.modules or one.callsite != other.callsite:
            continue  # functions of the user's may do different things with the same
        if _parameters(one) != parameters or _parameters(other) != parameters or _given(one) != _given(other):
            return None
        if any(story.is_written_between(meta.storage, one.index, other.index) for meta in one.inputs):
            continue
        inside = (call for call in story.calls_between(one.index, other.index))
        if all(_lies_in(call.callsite, place, loop) for call in inside):
            return one, other
    return None


def _parameters(call: CallEvent) -> set[int]:
    return {meta.tensor for meta in call.inputs if meta.is_trainable}


def _given(call: CallEvent) -> set[tuple[int, int | None]]:
    """The other tensors, as they were."""
    return {(meta.tensor, meta.version) for meta in call.inputs if not meta.is_trainable}


def _lies_in(site: Callsite | None, place: Callsite, loop: ast.AST) -> bool:
    """Whether a call belongs to a pass of the loop."""
    here = [each for each in (site.chain if site is not None else ()) if each.around.same_function(place.around)]
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        first, last = loop.body[0].lineno, loop.end_lineno or 0
        return any(first <= each.line <= last for each in here)
    begin, end = (getattr(loop, "lineno", 0), getattr(loop, "col_offset", 0)), getattr(loop, "end_lineno", 0)
    return any(begin <= (each.line, each.column or 0) and each.line <= end for each in here)


def _hazard(story: Story, place: Callsite, over: ast.expr, one: CallEvent, other: CallEvent) -> Hazard:
    tensor = next(meta.tensor for meta in one.inputs if meta.is_trainable)
    name = expressions.path_text(_container(over)) or ast.unparse(over)
    writes = story.writes_to_tensor.get(tensor, ())
    written = [entry for entry in writes if entry[0].index < one.index and entry[0].callsite in story.stepping]
    made = _made_at(story, name, place)
    cause = written[-1][0].callsite if written else made
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "{line} gave the same result in each pass: all entries of {over} are one and the same model, and it got "
            "the same input. PyTorch gives no error."
        ).format(line=wording.spot(place), over=wording.code(name)),
        fix=_("Make one model for each entry: `[make() for _ in range(n)]`, or `copy.deepcopy(model)`."),
        variable=name,
        mutation=cause or place,
        read=place if cause is not None else None,
        origin=made if written else None,
        tensor=tensor,
        call=other.index,
        badges=Badges(wrote="" if written else _("one model, several times"), read=_("runs it again here")),
    )


def _container(over: ast.expr) -> ast.expr:
    """`heads` of ``heads.items()`` and ``enumerate(heads)``."""
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and not over.args:
        return over.func.value
    return over.args[0] if isinstance(over, ast.Call) and len(over.args) == 1 else over


def _made_at(story: Story, name: str, place: Callsite) -> Callsite | None:
    """The one statement that repeats an entry under that name: ``members = nn.ModuleList([layer] * 5)``."""
    last = name.rpartition(".")[2]
    listing = whole_listing(story.trace, place)
    found = [
        node
        for each in ([listing] if listing is not None else texts(story.trace))
        for node in each.nodes
        if isinstance(node, ast.Assign) and _repeats(node.value)
        if any((expressions.path_text(target) or "").rpartition(".")[2] == last for target in node.targets)
    ]
    if len(found) != 1 or listing is None:
        return None
    return _place(listing, found[0], place)


def _repeats(value: ast.expr) -> bool:
    return any(
        (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List))
        or (isinstance(node, ast.ListComp) and isinstance(node.elt, (ast.Name, ast.Attribute)))
        or (isinstance(node, ast.DictComp) and isinstance(node.value, (ast.Name, ast.Attribute)))
        or (isinstance(node, ast.Call) and expressions.path_text(node.func) == "dict.fromkeys")
        for node in ast.walk(value)
    )


def _place(listing: Listing, statement: ast.stmt, like: Callsite) -> Callsite:
    text = listing.text(statement)
    return Callsite(
        line=statement.lineno,
        text=text.partition("\n")[0],
        cell=like.cell,
        file=like.file,
        function=getattr(listing.scope_of(statement), "name", "<module>"),
        end_line=statement.end_lineno,
        statement=text,
    )


RULE = Rule(check)
