"""A tensor was cut off its history in place for one of its uses, and so it is for every other use.

``x.detach()`` gives another tensor, ``x.detach_()`` changes `x`
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach_.html). What reads `x` afterwards sends no gradient
to what made it.

Bad::

    aside = probe(h.detach_())      # `h` itself has no history now
    loss = (h * w).sum()            # nothing of this reaches what made `h`

Good::

    aside = probe(h.detach())
    loss = (h * w).sum()

Told from the record alone: a call cut a tensor off a node that no backward had run through, its result was handed on or
got another name, the tensor was read after that, and a backward ran through what was read from it. So it is where a
function binds a parameter anew, ``h = h.detach_()``, and its caller reads on. Silent for ``h.detach_()`` as a statement
of its own, and for ``h = h.detach_()`` where the name is the function's own: they say what they do to `h`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite

CODE = "history-cut"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each cutting line."""
    seen: set[Callsite | None] = set()
    for call in story.trace.calls:
        if not call.does("detaches itself") or call.error is not None or call.callsite in seen:
            continue
        cut = call.inputs[0] if call.inputs else None
        if cut is None or cut.node is None or story.ran_through.get(cut.node):
            continue
        own = _is_bound_for_itself(story, call, cut)
        if not own and not _is_handed_on(story, call, cut):
            continue
        later = (read for read in _later_reads(story, call, cut) if not own or not _is_inside(read, call))
        read = next((read for read in later if _is_on_the_way(story, read, cut)), None)
        if read is not None:
            seen.add(call.callsite)
            yield _hazard(story, call, cut, read)


def _is_handed_on(story: Story, call: CallEvent, cut: TensorMetadata) -> bool:
    """Whether the line takes the result for another tensor: it binds it to another name, or hands it to a call."""
    site = call.callsite
    if site is None or not site.direct or site.expression == site.statement:
        return False
    if site.targets is None:
        return True
    path = story.bindings.written_path(call, cut.tensor)
    return path is not None and path not in site.targets and "return" not in site.targets


def _is_bound_for_itself(story: Story, call: CallEvent, cut: TensorMetadata) -> bool:
    """Whether a function binds a parameter anew, ``x = x.detach_()``, as if that left its caller's tensor alone."""
    site = call.callsite
    path = story.bindings.written_path(call, cut.tensor)
    return site is not None and site.caller is not None and path in site.parameters and path in (site.targets or ())


def _is_inside(read: CallEvent, call: CallEvent) -> bool:
    """Whether a call was made in the function, or below it, that made another one."""
    site = call.callsite
    return site is not None and read.callsite is not None and read.callsite.is_below(site)


def _later_reads(story: Story, call: CallEvent, cut: TensorMetadata) -> Iterator[CallEvent]:
    """The calls in other statements that got the tensor as it was left."""
    for read in story.given_to.get(cut.tensor, ()):
        given = next((meta for meta in read.inputs if meta.tensor == cut.tensor), None)
        apart = read.callsite is None or not read.callsite.same_statement(call.callsite)
        if read.index > call.index and given is not None and given.node is None and apart and not given.requires_grad:
            yield read


def _is_on_the_way(story: Story, read: CallEvent, cut: TensorMetadata) -> bool:
    """Whether a backward ran through what a call made: of the tensor itself it would have gone on to what made it."""
    made = (meta.node for meta in (*read.outputs, *read.mutated) if meta.tensor != cut.tensor)
    return any(node is not None and story.ran_through.get(node) for node in made)


def _hazard(story: Story, call: CallEvent, cut: TensorMetadata, read: CallEvent) -> Hazard:
    name = story.bindings.written_name(call, cut.tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{cut} cuts {tensor} itself off its history, and {read} reads it after that: no gradient of what follows "
            "reaches what made it. PyTorch gives no error."
        ).format(
            cut=wording.spot(call.callsite),
            read=wording.spot(read.callsite),
            tensor=f"`{name}`" if name else _("a tensor"),
        ),
        fix=_("Use `detach()`, which gives another tensor and leaves this one as it is."),
        variable=name,
        read=read,
        tensor=cut.tensor,
        write=call,
        badges=Badges(wrote=_("cut off here"), read=_("read without its history")),
    )


def detached_apart(write: Written) -> Fix | None:
    """``h.detach()`` for ``h.detach_()``."""
    listing = write.listing
    node = listing.expression_at(write.site)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args or node.keywords:
        return None
    edit = listing.substitute([(node, f"{listing.text(node.func.value)}.{node.func.attr.rstrip('_')}()")])
    return Fix(write.site, listing, (edit,)) if edit is not None else None


RULE = Rule(check, {CODE: Cures((detached_apart,))})
