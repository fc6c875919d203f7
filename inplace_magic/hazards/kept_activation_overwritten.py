"""An activation was kept (by a forward hook, or in a list) and the next in-place layer rewrote it.

A hook on a convolution stores the very tensor that ``ReLU(inplace=True)`` then overwrites; what is looked at later
are the rectified values (pytorch/pytorch issue 95617). The same happens to ``features.append(x)`` before ``x =
relu(x, inplace=True)``.

Bad::

    conv.register_forward_hook(lambda m, a, out: kept.update(pre=out))
    nn.Sequential(conv, nn.ReLU(inplace=True))(x)
    kept["pre"].mean()              # after the ReLU, not before

Good::

    conv.register_forward_hook(lambda m, a, out: kept.update(pre=out.clone()))

Found where a container reachable from the user's names holds the tensor, the keeping came before the write (the
module that made the tensor has a forward hook, or the statement that stored it stands before the writing line of the
same function), and the tensor is read by way of the container afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis import expressions
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.listing import listing_of_cell
from inplace_magic.language import _
from inplace_magic.trace import CallEvent, Callsite, Mutation

CODE = "kept-activation-overwritten"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place that rewrote a kept tensor which was read afterwards."""
    seen = set()
    for call in story.trace.calls:
        for mutation in call.mutations if call.kind == "in-place" and call.error is None else ():
            held = [mutation.tensor, *story.detached.get(mutation.tensor, ())]
            containers = [name for tensor in held for name in story.names.get(tensor, ()) if name.endswith("]")]
            if not containers or call.callsite in seen:
                continue
            how = (
                _kept_by_hook(story, mutation.tensor, call)
                or _kept_by_statement(story, call, mutation)
                or _kept_a_pass_before(story, call, mutation)
            )
            reads = (_read_through(story, tensor, call, containers) for tensor in held if how is not None)
            read = next((read for read in reads if read is not None), None)
            if how is not None and read is not None:
                seen.add(call.callsite)
                yield _hazard(story, call, mutation, containers[0], how, read)


def _kept_by_hook(story: Story, tensor: int, write: CallEvent) -> str | None:
    """A module with a forward hook that made the tensor and is not the one that wrote it."""
    made = story.innermost_new(tensor, write.index)
    if made is None:
        return None
    for meta in made.inputs:
        path = (story.bindings.namespace.get(meta.tensor) or "").rpartition(".")[0]
        if path and path in story.trace.hooked_modules:
            return _("a forward hook of `{module}` kept it").format(module=path)
    return None


def _kept_by_statement(story: Story, call: CallEvent, mutation: Mutation) -> str | None:
    """A statement of the writing function, above the write, that put the written variable into a container."""
    site = call.callsite
    node = story.bindings.written_operand(call, mutation.tensor)
    name = expressions.path_text(node) if node is not None else None
    if site is None or name is None:
        return None
    for alias in story.aliases_beside(site):
        if alias.source == name and alias.target.endswith("]") and alias.line < site.line:
            bound = [at for at, _ in story.bindings.scopes.get((site.function, name), ()) if at < call.index]
            made = story.innermost_new(mutation.tensor, call.index)
            if made is None or not bound or (made.callsite is not None and made.callsite.line <= alias.line):
                return _("{code} (line {line}) kept it").format(code=wording.code(alias.text), line=alias.line)
    return None


def _kept_a_pass_before(story: Story, call: CallEvent, mutation: Mutation) -> str | None:
    """``for layer in net: x = layer(x); if isinstance(layer, nn.Conv2d): kept.append(x)``, where the layer of the next
    pass writes what this one gave: the condition names the class of the layer that gave it, and not that of the
    writing one."""
    site, listing = call.callsite, listing_of_cell(story.trace)
    made = story.innermost_new(mutation.tensor, call.index)
    place = made.callsite if made is not None else None
    if made is None or place is None or site is None or listing is None or not made.modules or not call.modules:
        return None
    if (place.line, place.function) != (site.line, site.function):
        return None
    for alias in story.aliases_beside(site):
        statement = listing.statement_on(alias.line)
        around = listing.around(statement) if statement is not None and alias.target.endswith("]") else ()
        tests = [node.test for node in around if isinstance(node, ast.If)]
        asked = {name for test in tests for name in _classes_asked(test)}
        if alias.line > site.line and made.modules[-1] in asked and call.modules[-1] not in asked:
            return _("{code} (line {line}) kept it").format(code=wording.code(alias.text), line=alias.line)
    return None


def _classes_asked(test: ast.expr) -> set[str]:
    """``Conv2d`` of ``isinstance(layer, nn.Conv2d)``."""
    if not isinstance(test, ast.Call) or expressions.path_text(test.func) != "isinstance" or len(test.args) != 2:
        return set()
    listed = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
    return {(expressions.path_text(node) or "").rpartition(".")[2] for node in listed}


def _read_through(story: Story, tensor: int, write: CallEvent, containers: list[str]) -> CallEvent | None:
    """The first call after the write that read the tensor in a statement which names a container that holds it."""
    roots = {path.split("[")[0].split(".")[0] for path in containers}

    def counts(site: Callsite | None) -> bool:
        while site is not None:
            if site != write.callsite and roots & _names_in(site.statement):
                return True
            site = site.caller
        return False

    return next(story.readers(tensor, write.index, counts), None)


def _names_in(statement: str) -> set[str]:
    node = expressions.parse(statement)
    if isinstance(node, ast.Assign):
        node = node.value
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} if node is not None else set()


def _hazard(story: Story, call: CallEvent, mutation: Mutation, container: str, how: str, read: CallEvent) -> Hazard:
    variable = container if call.callsite is None or not call.callsite.direct else None
    variable = variable or story.bindings.written_name(call, mutation.tensor) or container
    return Hazard(
        code=CODE,
        severity="warning",
        message=_(
            "`{container}` is read by {read}, but it no longer holds what was kept: {how}, and {write} then overwrote "
            "that very tensor in place. PyTorch gives no error."
        ).format(container=container, read=wording.spot(read.callsite), how=how, write=wording.spot(call.callsite)),
        fix=_("Keep a copy (`output.clone()`), or let the layer that follows give a new tensor (`inplace=False`)."),
        variable=variable,
        mutation=call.callsite,
        mutations=(call.callsite,) if call.callsite is not None else (),
        read=read.callsite,
        read_call=read.index,
        tensor=mutation.tensor,
        call=call.index,
    )
