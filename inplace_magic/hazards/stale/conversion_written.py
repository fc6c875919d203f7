"""What a conversion gave was written in place, and it was the stored tensor itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.of_origin import copied_where_taken
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

CODE = "conversion-written"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place."""
    gave: dict[int | None, tuple[CallEvent, str]] = {}
    seen = set()
    for call in story.direct:
        source = _converted(call)
        if source is not None:
            gave[call.outputs[0].storage] = call, source
        site = call.callsite
        if site is None or call.kind != "in-place" or site in seen or call.error is not None:
            continue
        for mutation in call.mutations:
            taken = gave.get(mutation.storage)
            if taken is None or not builds_on_itself(story, call, mutation):
                continue
            maker, source = taken
            name = _name_of(maker)
            here = maker.callsite is not None and maker.callsite.same_run(site)
            if not here or story.bindings.written_path(call, mutation.tensor) != name:
                continue
            read = _goes_on(story, mutation.storage, call, source, maker)
            if read is not None:
                seen.add(site)
                yield _hazard(story, call, maker, source, name or "", read)
                break


def _converted(call: CallEvent) -> str | None:
    """``self.momentum`` of ``d = self.momentum.to(dtype)`` that converted nothing."""
    site = call.callsite
    if site is None or call.kind != "view" or not call.does("may hand back") or call.does("detached"):
        return None
    if not call.inputs or not call.outputs or call.inputs[0].is_trainable or _name_of(call) is None:
        return None
    same = call.inputs[0].storage is not None and call.inputs[0].storage == call.outputs[0].storage
    operands = expressions.operands(site.expression, method=call.does("method"))
    path = expressions.path_text(operands[0]) if operands and same else None
    while path is not None and path.isidentifier() and path in site.parameters and site.caller is not None:
        argument = expressions.parameter_argument(site.caller.expression, site.parameters, path)
        path, site = expressions.path_text(argument), site.caller
    return path if path is not None and not path.isidentifier() else None


def _name_of(call: CallEvent) -> str | None:
    """The local name that a call's result got."""
    targets = call.callsite.targets if call.callsite is not None else None
    name = targets[0] if targets and len(targets) == 1 else None
    return name if name is not None and name.isidentifier() and name != "return" else None


def _goes_on(story: Story, storage: int | None, write: CallEvent, source: str, maker: CallEvent) -> CallEvent | None:
    """The first call after the write that gets the memory by a line that says the attribute; None where that puts back
    what was written, which does nothing where nothing was converted, and is needed where something was."""
    attribute = re.compile(rf"{re.escape(source.rpartition('.')[2])}(?!\w)")  # of `state["average"]` all of it
    found: CallEvent | None = None
    for tensor in story.bindings.by_storage.get(storage, ()) if storage is not None else ():
        for call in story.given_to.get(tensor, ()):
            again = call.callsite is not None and call.callsite.same_statement(maker.callsite)
            if call.index <= write.index or call.kind == "query" or again or not _says(call.callsite, attribute):
                continue
            if _puts_back(call, storage):
                return None
            found = call if found is None or call.index < found.index else found
            break
    return found


def _puts_back(call: CallEvent, storage: int | None) -> bool:
    """Whether a memory is handed to itself: ``p.data.copy_(p32)``, ``p.data = p32``."""
    hands_over = call.does("copies in") or call.does("takes memory")
    return hands_over and all(meta.storage == storage for meta in call.inputs)


def _says(site: Callsite | None, attribute: re.Pattern[str]) -> bool:
    return site is not None and attribute.search((site.statement or site.text).replace("'", '"')) is not None


def _hazard(story: Story, call: CallEvent, maker: CallEvent, source: str, name: str, read: CallEvent) -> Hazard:
    site = maker.callsite
    return finding(
        CODE,
        "warning",
        message=_(
            "{write} writes `{name}`, which is `{source}` itself: {maker} had nothing to convert and made no copy. "
            "{read} goes on with the new values. PyTorch gives no error."
        ).format(
            write=wording.spot(call.callsite),
            name=name,
            source=source,
            maker=wording.code(site.expression) if site is not None else "",
            read=wording.spot(read.callsite),
        ),
        fix=_("Copy what is to be changed: append `.clone()` to {code}, or pass `copy=True` to `.to(…)`.").format(
            code=wording.code(site.expression) if site is not None else ""
        ),
        variable=source,
        origin=site,
        read=read,
        tensor=call.mutations[0].tensor,
        write=call,
    )


RULE = Rule(check, {CODE: Cures((copied_where_taken,))})
