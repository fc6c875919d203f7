"""A weight was written while an autocast block ran, and the block went on with the cast that it had made before.

Autocast casts a leaf that is trained once for each block and keeps the cast until the block ends
(https://docs.pytorch.org/docs/stable/amp.html: "weight cache"). It does not ask whether the leaf was written.

Bad::

    with torch.autocast("cpu", dtype=torch.bfloat16):
        new = net(x)
        load(net, old_weights)
        old = net(x)                # computes with the casts of the new weights

Good::

    with torch.autocast("cpu", dtype=torch.bfloat16):
        new = net(x)
    load(net, old_weights)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        old = net(x)

Told from the record and the text: two calls in one run of one autocast block got the same leaf in single precision and
gave a result in half of it, and the leaf was written in between. Silent where the old values were put back, where the
block keeps no casts (``cache_enabled=False``), and where a loop around the block may have come round between the two.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from operator import attrgetter

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.put_back import changes
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import LOOPS, Listing, texts, whole_listing

CODE = "cast-outdated"

_HALF = ("bfloat16", "float16")
_ASKED = 8
"""Pairs of calls of which it is asked whether one run of a block made both, for each line."""
_AT = attrgetter("at")


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    cast: dict[int, CallEvent] = {}
    told: set[Callsite | None] = set()
    asked: dict[Callsite, int] = {}
    for call in story.trace.calls:
        if len(call.outputs) != 1 or call.outputs[0].dtype not in _HALF:
            continue
        for weight in _cast_by(call):
            before = cast.setdefault(weight.tensor, call)
            write = _write_between(story, weight, before, call) if before is not call else None
            if write is None:
                continue
            site = call.callsite
            if site is None or before.callsite is None or asked.get(site, 0) == _ASKED:
                continue
            asked[site] = asked.get(site, 0) + 1
            if not _in_one_block(story, before, call):
                cast[weight.tensor] = call
            elif write.site not in told:
                told.add(write.site)
                yield _hazard(story, weight, before, write, call)


def _cast_by(call: CallEvent) -> list[TensorMetadata]:
    """The leaves that a call got in single precision, where it gave a result of half of it and is no conversion."""
    if call.error is not None or len(call.inputs) < 2 or call.does("copy") or call.mutations:
        return []
    return [meta for meta in call.inputs if meta.is_trainable and meta.dtype == "float32" and not meta.is_view]


def _write_between(story: Story, weight: TensorMetadata, before: CallEvent, call: CallEvent) -> Write | None:
    """The first write of a leaf between two calls that left other values than there were."""
    writes = story.writes_to_memory(weight.storage)
    first = bisect_right(writes, before.index, key=_AT)
    between = [write for write in writes[first:] if write.at < call.index][:_ASKED]
    if not between or weight.storage is None:
        return None
    seen = [(write.call, write.mutation) for write in between if write.call is not None and write.mutation is not None]
    changed = list(changes(story.restorations.get(weight.storage, ()), region_of(weight), seen))
    if len(seen) == len(between) and all(change.until is not None for change in changed):
        return None
    old, new = between[0].mutation, between[-1].mutation
    if old is None or new is None or old.values_before is None or old.values_before != new.values_after:
        return between[0]
    return None


def _in_one_block(story: Story, before: CallEvent, call: CallEvent) -> bool:
    """Whether one run of an autocast block made two calls."""
    if before.callsite is None or call.callsite is None or _clears_by_hand(story):
        return False
    outer = dict.fromkeys(before.callsite.chain)
    for place in call.callsite.chain:
        like = next((each for each in outer if each.same_run(place)), None)
        listing = whole_listing(story.trace, place) if like is not None else None
        if listing is None or like is None:
            continue
        for block in _blocks_around(listing, place):
            first, last = _lines(block)
            ways = list(_ways(story, place, before.index, call.index)) if first <= like.line <= last else []
            if (
                ways
                and all(way and first <= way[0].line <= last for way in ways)
                and _goes_on(story, ways, (first, last))
            ):
                return True
    return False


def _clears_by_hand(story: Story) -> bool:
    return any("clear_autocast_cache" in line for listing in texts(story.trace) for line in listing.lines)


def _blocks_around(listing: Listing, place: Callsite) -> Iterator[ast.With]:
    """The ``with`` statements around a place, in its function, that cast and keep their casts."""
    statement = listing.statement_at(place)
    for node in listing.around(statement) if statement is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return
        if isinstance(node, ast.With) and any(_casts(listing, item.context_expr) for item in node.items):
            yield node


def _casts(listing: Listing, context: ast.expr, *, by_name: bool = True) -> bool:
    """``torch.autocast("cuda")``, or a name that was given to it."""
    if isinstance(context, ast.Call):
        path = expressions.path_text(context.func)
        keeps = all(keyword.arg not in ("cache_enabled", None) for keyword in context.keywords)
        return path is not None and path.rpartition(".")[2] == "autocast" and keeps
    if not isinstance(context, ast.Name) or not by_name:
        return False
    bound = [listing.parents.get(node) for node in listing.stores.get(context.id, ())]
    given = [node.value for node in bound if isinstance(node, ast.Assign)]
    return len(given) == len(bound) == 1 and _casts(listing, given[0], by_name=False)


def _ways(story: Story, like: Callsite, first: int, last: int) -> Iterator[tuple[Callsite, ...]]:
    """For each call from one to another, its chain of places from the run of a function on; empty outside of it."""
    for index in range(first, last + 1):
        site = story.calls[index].callsite if index in story.calls else None
        if site is not None:
            chain = site.chain
            yield next((chain[at:] for at, place in enumerate(chain) if place.same_run(like)), ())


def _goes_on(story: Story, ways: list[tuple[Callsite, ...]], within: tuple[int, int]) -> bool:
    """Whether each call lies below the one before, or comes round by a loop that lies in some lines; where all lie on
    one line, in the function that this calls. Else something around may have come round, and the block with it."""
    listing = whole_listing(story.trace, ways[0][0])
    lines = [way[0].line for way in ways]
    back = {(above, line) for above, line in pairwise(lines) if line < above}
    if len(set(lines)) > 1:
        loops = [_lines(node) for node in listing.nodes if isinstance(node, LOOPS)] if listing else []
        inner = [(top, end) for top, end in loops if within[0] < top and end <= within[1]]
        return all(any(top <= line and above <= end for top, end in inner) for above, line in back)
    deeper = [way[1:] for way in ways]
    if not all(deeper) or not all(way[0].same_function(deeper[0][0]) for way in deeper):
        return False
    return _goes_on(story, deeper, (0, len(listing.lines) if listing is not None else 0))


def _lines(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.end_lineno or node.lineno


def _hazard(story: Story, weight: TensorMetadata, cast: CallEvent, write: Write, call: CallEvent) -> Hazard:
    name = story.bindings.name(weight.tensor) or story.name_written_by(write)
    return finding(
        CODE,
        "silent",
        message=_(
            "{read} computes with a cast of {weight} that autocast had kept since {cast}: {write} wrote the weight "
            "after that, in the same autocast block, and the new values are not used. PyTorch gives no error."
        ).format(
            read=wording.spot(call.callsite),
            weight=f"`{name}`" if name else _("a weight"),
            cast=wording.spot(cast.callsite),
            write=wording.spot(write.site),
        ),
        fix=_(
            "End the autocast block before the weights are written, and begin another one below; or give it "
            "`cache_enabled=False`."
        ),
        variable=name,
        origin=cast.callsite,
        read=call,
        tensor=weight.tensor,
        write=write,
        badges=Badges(read=_("computes with the older cast here"), origin=_("cast here")),
    )


RULE = Rule(check)
