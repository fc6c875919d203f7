"""What to do where parameters were stepped between a forward pass and a later backward through it.

"Run backward before the step" is often wrong advice, and silently so. In a GAN the generator's loss goes through the
discriminator. Run before ``opt_D.step()``, its backward adds to the discriminator's ``.grad`` as well, and the step
then goes by the sum of both losses; in the plainest GAN they cancel out. So that is said only where nothing else had
filled these gradients.

Of a recurrent state that is carried from pass to pass the graph of the earlier pass is what the step has outdated.
There the state is to be cut off, and computing anew is no help.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.target import below
from inplace_magic.hazards.stepped import Carried, Stepped, stepped
from inplace_magic.language import _, sentences
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source import expressions
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Edit, Listing, listing_of
from inplace_magic.source.targets import STORING
from inplace_magic.source.variables import variables_bound, variables_read


def advice(story: Story, hazard: Hazard) -> str:
    """Return what to do about a step that came too early for a backward, or a backward that came too late for it; empty
    where the finding is about something else."""
    step = stepped(story, hazard)
    if step is None or step.wrote.callsite is None:
        return ""
    carried = step.carried()
    if carried:
        return _cut_off(step, carried) if all(entry.recurrent for entry in carried) else _too_old(step, carried)
    others = (call.callsite for call in (step.saver, step.backward) if call is not None)
    places = where_they_part(step.wrote.callsite.chain, *(site.chain for site in others if site is not None))
    moved = places[1] if step.saver is not None and len(places) > 1 else None
    if places[0].same_line(moved):
        moved = None  # both inside one call: the lines that part are further in
    said = _computed_anew(step, places[0], moved)
    if hazard.severity == "silent" and hazard.tensor not in step.leaves:
        return sentences(
            said, _("Write under `torch.no_grad()` instead of through `.data`, so that PyTorch would notice.")
        )
    return said


def _computed_anew(step: Stepped, line: Callsite, moved: Callsite | None) -> str:
    anew = _("Compute {loss} again after {line}.")
    if moved is not None:
        anew = _(
            "Compute {loss} again after {line}: repeat the lines that lead to it, from {forward} on, below {line}."
        )
    return sentences(anew, *_or_moved(step)).format(
        loss=_loss(step),
        line=wording.line_of(line),
        forward=_spot(_first_line(step, moved, line)) if moved is not None else "",
        backward=wording.line_of(step.backward.callsite) if step.backward is not None else "",
    )


def _or_moved(step: Stepped) -> Iterator[str]:
    """Yield what is to be said of the step's place: below the backward only where that changes no gradients."""
    if step.backward is None and not step.reads_gradients:
        yield _("Or run {line} after backward.")
    elif step.backward is None:
        yield _(
            "Or run {line} after backward, if it is to use these gradients as well: what a backward adds to "
            "`.grad` before the step becomes part of the step."
        )
    elif not (step.in_common and step.reads_gradients):
        yield _("Or put {line} below {backward}.")
    elif not step.step_has_gradients:
        yield _("Or put {line} below {backward}, so that it uses the gradients of that backward.")
    else:
        yield _("Do not just run its backward before {line}: that would add to the gradients that {line} uses.")
        if step.filled - step.leaves:
            yield _(
                "To keep the old values, use `backward(inputs=…)` with the other parameters alone, and put {line} "
                "below it."
            )


def _first_line(step: Stepped, forward: Callsite, line: Callsite) -> Callsite:
    """Return the place from which lines are to be repeated below `line`: of a loop its head, and ``loss = 0`` above
    ``loss += part``."""
    listing = listing_of(step.story.trace, forward)
    statement = listing.statement_at(forward) if listing is not None else None
    if listing is None or statement is None or not forward.same_function(line):
        return forward
    scope, first = listing.scope_of(statement), statement
    for node in listing.around(statement):
        if isinstance(node, ast.stmt) and node is not scope and not node.lineno <= line.line <= (node.end_lineno or 0):
            first = node
    inside = [node for node in ast.walk(scope) if isinstance(node, ast.stmt)]
    built = {name for node in inside if first.lineno <= node.lineno < line.line for name in _built_on(node)}
    begun = {
        path_text(node.targets[0]): node for node in inside if isinstance(node, ast.Assign) and _above(node, first)
    }
    first = min([first, *(begun[name] for name in built & begun.keys())], key=lambda node: node.lineno)
    if first is statement:
        return forward
    text = listing.lines[first.lineno - 1].strip()
    return replace(forward, line=first.lineno, end_line=None, text=text, expression=text, statement=text)


def _above(node: ast.stmt, first: ast.stmt) -> bool:
    return node.lineno < first.lineno


def _built_on(node: ast.stmt) -> set[str]:
    """Return what a statement adds to: of ``loss += part``, ``loss = loss + part`` and ``losses.append(part)``."""
    if isinstance(node, ast.AugAssign):
        found = path_text(node.target)
    elif isinstance(node, ast.Assign):
        target = path_text(node.targets[0])
        found = target if any(path_text(each) == target for each in ast.walk(node.value)) else None
    else:
        called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        found = path_text(called.value) if isinstance(called, ast.Attribute) and called.attr in STORING else None
    return {found} if found is not None else set()


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
    read, names = variables_read(node), (entry for entry in ast.walk(node) if isinstance(entry, ast.Name))
    bound = [entry.id for entry in names if isinstance(entry.ctx, ast.Store) and entry.id in read]
    return bound if len(bound) in (1, len(carried)) else []


def detached(names: list[str], carried: list[Carried]) -> str:
    """``h, c = h.detach(), c.detach()``; of one tuple for all, ``state = tuple(part.detach() for part in state)``."""
    if len(names) < len(carried):
        return f"{names[0]} = tuple(part.detach() for part in {names[0]})"
    return f"{', '.join(names)} = {', '.join(f'{name}.detach()' for name in names)}"


def cut_off(
    listing: Listing, used: ast.stmt, here: Callsite, names: list[str], carried: list[Carried]
) -> tuple[Edit, ...]:
    """``h, c = h.detach(), c.detach()`` below a statement of a loop; nothing where it is not plain that it can stand
    there.

    Args:
        listing: the text in which the loop stands.
        used: the statement that steps or goes backward.
        here: its place.
        names: what a pass goes on from, as the loop calls it.
        carried: these tensors.
    """
    loop = listing.loop_around(used)
    plain = isinstance(used, (ast.Expr, ast.Assign)) and listing.alone(used)
    if loop is None or not plain or not names or not all(_can_be_bound(name, here, loop) for name in names):
        return ()
    return (below(used, f"{listing.indent(used)}{detached(names, carried)}"),)


def _can_be_bound(name: str, site: Callsite, loop: ast.stmt) -> bool:
    """True if ``name = …`` in a loop binds what the next pass reads: a variable that the loop binds, or what a variable
    of the notebook leads to."""
    if name.isidentifier():
        return name in variables_bound(loop)
    root = expressions.root_name(expressions.parse(name))
    return root not in (None, "self") and site.function == "<module>"


def _too_old(step: Stepped, carried: list[Carried]) -> str:
    """Name all results to be computed again, and the first line, in the function that steps, that computes them."""
    old = sorted((entry for entry in carried if not entry.recurrent), key=_made_at)
    known = list(dict.fromkeys(entry.name for entry in old if entry.name is not None))
    names, line = _listed(known) if known else _("what it is computed from"), wording.line_of(step.wrote.callsite)
    made, wrote = old[0].made.callsite if old[0].made is not None else None, step.wrote.callsite
    forward = ""
    if made is not None and wrote is not None:
        first, here = where_they_part(made.chain, wrote.chain)
        forward = _spot(_first_line(step, first, here) if len(old) > 1 else first)
    if not forward:
        said = _("Compute {names} again after {line}: results of the old values are outdated.")
    elif len(old) > 1:
        said = _("Compute {names} again after {line}, from {forward} on: results of the old values are outdated.")
    else:
        said = _("Compute {names} again after {line}, by {forward}: results of the old values are outdated.")
    return said.format(names=names, line=line, forward=forward)


def _made_at(entry: Carried) -> int:
    return entry.made.index if entry.made is not None else -1


def _loss(step: Stepped) -> str:
    """Return the loss of the backward, as the code that can be changed calls it."""
    backward = step.backward
    if backward is None or not backward.inputs:
        return _("the result")
    name = step.story.bindings.written_name(backward, backward.inputs[0].tensor)
    return f"`{name}`" if name is not None else _("the result")


def _spot(site: Callsite) -> str:
    return _("{line} ({place})").format(line=wording.line_of(site), place=site.place)


def _listed(names: list[str]) -> str:
    return _(" and ").join(f"`{name}`" for name in names)
