"""A chain of in-place calls scales a tensor and then adds something that is computed from the same, now scaled, tensor.

Python evaluates ``x.mul_(a)`` before the arguments of the call that follows in the chain, so in
``x.mul_(a).add_(b * x.flip(0))`` the flipped part is scaled by ``a`` as well. The formula reads like a mean of old
values and is none (huggingface/pytorch-image-models issue 50, in its mixup).

Bad::

    images.mul_(lam).add_((1 - lam) * images.flip(0))

Good::

    images = images * lam + (1 - lam) * images.flip(0)

Found where ``add_`` or ``sub_`` follows ``mul_`` or ``div_`` on one tensor in one expression, and its argument reads
that tensor by its name and at its full size. Silent for ``x.sub_(x.min()).div_(x.max())``, where the new values are
mostly meant, and where what is read is a single number.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import paths_in
from inplace_magic.source.listing import Edit

CODE = "operand-overwritten-first"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line."""
    seen = set()
    for call in story.doing("shifts"):
        site = call.callsite
        if site is None or site in seen or call.error is not None:
            continue
        path = _read_again(site)
        for mutation in call.mutations if path is not None else ():
            scaling = _scaling_before(story, call, mutation.tensor)
            if path is not None and scaling is not None and _read_whole(story, scaling, call, mutation.tensor):
                seen.add(site)
                yield _hazard(story, scaling, call, mutation.tensor, path)


def _read_again(site: Callsite) -> str | None:
    """``x`` of ``x.mul_(a).add_(b * x.flip(0))``."""
    node = expressions.parse(site.expression)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    scaled = node.func.value
    if not isinstance(scaled, ast.Call) or not isinstance(scaled.func, ast.Attribute):
        return None
    path = expressions.path_text(scaled.func.value)
    arguments = (*node.args, *(entry.value for entry in node.keywords))
    return path if path is not None and any(path in paths_in(ast.unparse(part)) for part in arguments) else None


def _scaling_before(story: Story, call: CallEvent, tensor: int) -> CallEvent | None:
    """The call of the same run of the line that scaled the tensor."""
    before = call.index - 1
    while (earlier := story.calls.get(before)) is not None and call.callsite is not None:
        if not call.callsite.same_statement(earlier.callsite):
            break
        if earlier.does("scales") and any(entry.tensor == tensor for entry in earlier.mutations):
            return earlier
        before -= 1
    return None


def _read_whole(story: Story, scaling: CallEvent, adding: CallEvent, tensor: int) -> bool:
    """Whether something of the tensor's size was computed from it between the two writes."""
    for index in range(scaling.index + 1, adding.index):
        read = story.calls.get(index)
        given = next((meta for meta in read.inputs if meta.tensor == tensor), None) if read is not None else None
        if read is None or given is None or given.shape is None or math.prod(given.shape) < 2:
            continue
        if any(output.shape == given.shape for output in read.outputs):
            return True
    return False


def _hazard(story: Story, scaling: CallEvent, call: CallEvent, tensor: int, path: str) -> Hazard:
    site = call.callsite
    first = scaling.callsite.expression if scaling.callsite is not None else ""
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} reads `{name}` in the argument of its last call, but {first} had overwritten it before: Python "
            "evaluates a chain from left to right, so the argument is computed from the new values. PyTorch gives no "
            "error."
        ).format(line=wording.spot(site), name=path, first=wording.code(first)),
        fix=_(
            "Compute the argument in a statement before, or do not write in place: `{name} = {name} * … + …`."
        ).format(name=path),
        variable=story.bindings.written_name(call, tensor) or path,
        tensor=tensor,
        write=call,
    )


def argument_first(write: Written) -> Fix | None:
    """``addend = (1 - lam) * x.flip(0)`` on a line of its own, above the chain that then adds it."""
    listing, statement = write.listing, write.statement
    node = listing.expression_at(write.site)
    simple = isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) and listing.alone(statement)
    if not simple or not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    if "addend" in {name.id for name in listing.nodes if isinstance(name, ast.Name)}:
        return None
    line = f"{listing.indent(statement)}addend = {listing.text(node.args[0])}"
    edit = listing.substitute([(node.args[0], "addend")])
    if edit is None or "\n" in line:
        return None
    return Fix(write.site, listing, (Edit(edit.first, edit.last, (line, *edit.new)),))


RULE = Rule(check, {CODE: Cures((argument_first,))})
