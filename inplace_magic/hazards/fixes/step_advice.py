"""What to do where parameters were stepped between a forward pass and a later backward through it.

"Run backward before the step" is often wrong advice, and silently so. In a GAN the generator's loss goes through the
discriminator. Run before ``opt_D.step()``, its backward adds to the discriminator's ``.grad`` as well, and the step
then goes by the sum of both losses; in the plainest GAN they cancel out. So the loss is to be computed anew.

Of a recurrent state that is carried from pass to pass the graph of the earlier pass is what the step has outdated.
There the state is to be cut off, and computing anew is no help.
"""

from __future__ import annotations

import ast

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.target import Fix, below
from inplace_magic.hazards.late_backward import Carried, Stepped, stepped
from inplace_magic.language import _, sentences
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing


def advice(story: Story, hazard: Hazard) -> str:
    """Return what to do about a step that came too early for a backward, or a backward that came too late for it; empty
    where the finding is about something else."""
    step = stepped(story, hazard)
    wrote = step.wrote.callsite if step is not None else None
    if step is None or wrote is None:
        return ""
    carried = step.carried()
    if carried and all(entry.recurrent for entry in carried):
        return _cut_off(step, carried)
    late = step.backward or step.saver
    if not carried and late is not None and late.callsite is not None:  # one call may step and go backward
        wrote = where_they_part(wrote.chain, late.callsite.chain)[0]
    said = _("Compute {names} again after {line}: results of the old values are outdated.")
    said = said.format(names=_outdated(step, carried), line=wording.line_of(wrote))
    if hazard.severity == "silent" and hazard.tensor not in step.leaves:
        return sentences(
            said, _("Write under `torch.no_grad()` instead of through `.data`, so that PyTorch would notice.")
        )
    return said


def _outdated(step: Stepped, carried: list[Carried]) -> str:
    """Return what was made before the step and is read after it; else the loss, as the code that can be changed calls
    it."""
    old = [entry for entry in carried if not entry.recurrent]
    old.sort(key=lambda entry: entry.made.index if entry.made is not None else -1)
    if old:
        names = list(dict.fromkeys(entry.name for entry in old if entry.name is not None))
        return _listed(names) if names else _("what it is computed from")
    backward = step.backward
    known = backward is not None and bool(backward.inputs)
    name = step.story.bindings.written_name(backward, backward.inputs[0].tensor) if backward and known else None
    return f"`{name}`" if name is not None else _("the result")


def _cut_off(step: Stepped, carried: list[Carried]) -> str:
    line, reader = wording.line_of(step.wrote.callsite), reading_place(step, carried)
    names = state_names(reader, carried)
    if not names:
        return _(
            "{reader} continues from the previous iteration, whose graph was built from values that {line} "
            "has replaced: begin each iteration with a detached state (`.detach()`)."
        ).format(reader=wording.line_of(reader), line=line)
    return _(
        "The graph of {names} is that of the previous iteration, built from values that {line} has "
        "replaced. Begin each iteration with {detached}; gradients then end there."
    ).format(names=_listed(names), line=line, detached=wording.code(detached(names, carried)))


def reading_place(step: Stepped, carried: list[Carried]) -> Callsite | None:
    """Return the line by which the pass goes on from the one before, in the function that steps."""
    reader, wrote = carried[0].reader, step.wrote.callsite
    return where_they_part(reader.chain, wrote.chain)[0] if reader is not None and wrote is not None else None


def state_names(reader: Callsite | None, carried: list[Carried]) -> list[str]:
    """Return the variables that a line reads and binds again, ``h`` and ``c`` of ``h, c = cell(x, (h, c))``; none where
    they are not one for each tensor that is carried, or one for all."""
    node = expressions.parse(reader.statement) if reader is not None else None
    if not isinstance(node, ast.Assign):
        return []
    read, names = expressions.variables_read(node), (entry for entry in ast.walk(node) if isinstance(entry, ast.Name))
    bound = [entry.id for entry in names if isinstance(entry.ctx, ast.Store) and entry.id in read]
    return bound if len(bound) in (1, len(carried)) else []


def detached(names: list[str], carried: list[Carried]) -> str:
    """``h, c = h.detach(), c.detach()``; of one tuple for all, ``state = tuple(part.detach() for part in state)``."""
    if len(names) < len(carried):
        return f"{names[0]} = tuple(part.detach() for part in {names[0]})"
    return f"{', '.join(names)} = {', '.join(f'{name}.detach()' for name in names)}"


def cut_off(
    listing: Listing, used: ast.stmt, here: Callsite, names: list[str], carried: list[Carried], sentence: str = ""
) -> Fix | None:
    """``h, c = h.detach(), c.detach()`` below a statement of a loop; None where it is not plain that it can stand
    there.

    Args:
        listing: the text in which the loop stands.
        used: the statement that steps or goes backward.
        here: its place.
        names: what a pass goes on from, as the loop calls it.
        carried: these tensors.
        sentence: says what the change does.
    """
    loop = listing.loop_around(used)
    plain = isinstance(used, (ast.Expr, ast.Assign)) and listing.alone(used)
    if loop is None or not plain or not names or not all(_can_be_bound(name, here, loop) for name in names):
        return None
    edit = below(used, f"{listing.indent(used)}{detached(names, carried)}")
    return Fix(here, listing, (edit,), None, sentence)


def _can_be_bound(name: str, site: Callsite, loop: ast.stmt) -> bool:
    """True if ``name = …`` in a loop binds what the next pass reads: a variable that the loop binds, or what a variable
    of the notebook leads to."""
    if name.isidentifier():
        return name in expressions.variables_bound(loop)
    root = expressions.root_name(expressions.parse(name))
    return root not in (None, "self") and site.function == "<module>"


def _listed(names: list[str]) -> str:
    return _(" and ").join(f"`{name}`" for name in names)
