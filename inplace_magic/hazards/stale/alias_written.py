"""A tensor was written under one name and then read under another, as if the other still held the old values."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.overlap import copies_onto_itself
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.clone import at_the_second_name
from inplace_magic.hazards.fixes.inplace_false import advice, flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import bound_anew, value_given
from inplace_magic.hazards.references.engine import began_as_a_buffer, is_there_to_be_written
from inplace_magic.hazards.references.old_names import (
    declared_in_place,
    handed_out_as_two,
    is_bound_anew,
    is_given_again,
    is_over,
    is_read_by_both,
    other_names,
    reshaped,
)
from inplace_magic.hazards.references.owners import Owned, owners_of
from inplace_magic.hazards.references.rereading import (
    comes_later,
    in_the_next_pass,
    in_the_next_run,
    reads_beside,
    reads_it_as,
    reads_what_was_written,
)
from inplace_magic.hazards.references.second_names import (
    are_taken_for_two,
    goes_on_as_two,
    hands_out_another_name,
    names_given_at_once,
    on_the_same_memory,
    taken_for_the_write,
    with_clone,
)
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.paths import before_last_step, is_some_entry
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import level, paths_read

CODE = "alias-written"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing place whose other name was read afterwards."""
    seen: set[tuple[object, ...]] = set()
    for call in story.writing:
        written = call.kind == "in-place" or call.does("turns") or reshaped(call)
        if not written or call.error is not None or call.callsite is None or copies_onto_itself(call):
            continue
        place = (call.callsite.cell, call.callsite.file, call.callsite.line)
        if place in seen:
            continue  # `x.mul_(2).add_(1)` is one mistake
        for mutation in call.mutations:
            both = _returned_with_alias(story, call, mutation)
            if both is not None:
                seen.add(place)
                yield both
                break
            if not _may_be_a_mistake(story, call.callsite, mutation):
                continue
            found = next(_read_by_an_owner(story, call, mutation), None)
            if found is not None:
                seen.add(place)
                yield found
                break


def _returned_with_alias(story: Story, call: CallEvent, mutation: Mutation) -> Hazard | None:
    """A function that gave the written tensor a second name before the write and returns both, or puts both into one
    container, as if they were two tensors."""
    if call.callsite is None or not story.aliases.beside(call.callsite):
        return None
    path = story.bindings.written_path(call, mutation.tensor)
    if path is None:
        return None
    owned = Owned(path, call.callsite)
    found = handed_out_as_two(story, call, mutation, owned)
    if found is None:
        return None
    return _hazard(story, call, mutation, owned, found.read, found.read.callsite, found.other, found.alias)


def _read_by_an_owner(story: Story, call: CallEvent, mutation: Mutation) -> Iterator[Hazard]:
    path = story.bindings.written_path(call, mutation.tensor)
    for owned in owners_of(story, call, mutation, path):
        found = _read_by_old_name(story, call, mutation, owned)
        if found is not None:
            yield found


def _may_be_a_mistake(story: Story, site: Callsite, mutation: Mutation) -> bool:
    if is_there_to_be_written(story, mutation):
        return False
    aliases = story.aliases.beside(site)
    return not began_as_a_buffer(story, mutation.storage) or any(
        are_taken_for_two(story, alias, mutation) for alias in aliases
    )


def _read_by_old_name(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> Hazard | None:
    buffer = began_as_a_buffer(story, mutation.storage)
    names: dict[str, AliasStatement | None] = {
        name: alias
        for name, alias in other_names(story, owned, mutation)
        if name != owned.path and (not buffer or (alias is not None and are_taken_for_two(story, alias, mutation)))
    }
    handed_out = hands_out_another_name(owned)
    # `x.unsqueeze_(1)` says itself what it does; of what a function did to its argument, see `argument-written`.
    here = (owned.site == call.callsite) != reshaped(call)
    if not buffer and here and (handed_out or is_read_by_both(story, call, mutation, owned)):
        names.setdefault(owned.path, None)
    if not names:
        return None
    said: dict[Callsite | None, list[tuple[Callsite, str, str]]] = {}
    aliases = [alias.line for alias in names.values() if alias is not None]

    def counts(site: Callsite | None) -> bool:
        at = level(site, owned.site)
        if site is None or at is None:
            return False
        if not (
            comes_later(at, owned)
            or reads_beside(at, owned, site)
            or in_the_next_pass(story, at, owned, aliases)
            or in_the_next_run(story, at, owned, names)
        ):
            return False
        paths = sorted(paths_read(site, owned.site))
        named = ((path, path if path in names else f"{path.split('[')[0]}[]") for path in paths)
        said[site] = [(at, path, name) for path, name in named if name in names]
        return bool(said[site])

    others = on_the_same_memory(story, mutation, names.values()) if call.kind == "in-place" else ()
    for tensor in dict.fromkeys((mutation.tensor, *others, *taken_for_the_write(story, call, mutation))):
        for read in story.readers(tensor, call.index, counts):
            for at, path, name in said[read.callsite] if read.parent is None else ():
                if not reads_it_as(read, at, tensor, path) or not reads_what_was_written(read, call, mutation):
                    continue
                if declared_in_place(story, call, read, tensor):
                    continue
                anew = is_bound_anew(story, owned, path, call.index, read.index, tensor)
                alias = names[name]
                if alias is None and not handed_out and is_over(story, owned, read, at, tensor):
                    continue
                if alias is not None and not goes_on_as_two(story, alias, owned.path, at):
                    continue
                if not anew and not is_given_again(story, owned, alias, at, call.index, read.index):
                    return _hazard(story, call, mutation, owned, read, at, path, alias)
    return None


def _hazard(
    story: Story,
    call: CallEvent,
    mutation: Mutation,
    owned: Owned,
    read: CallEvent,
    at: Callsite | None,
    name: str,
    alias: AliasStatement | None,
) -> Hazard:
    written = story.bindings.written_name(call, mutation.tensor) or owned.path
    if alias is not None and is_some_entry(alias.target):
        how = _("an entry of `{list}` and `{other}` are one tensor ({code}, line {line})").format(
            list=before_last_step(alias.target)[0], other=alias.source, code=wording.code(alias.text), line=alias.line
        )
        fix = _("Store a copy, `{name}.clone()` in {code}, or make a new tensor instead of writing this one.").format(
            name=alias.source, code=wording.code(alias.text)
        )
    elif alias is not None:
        how = (
            _("`{one}` and `{other}` are two tensors on one memory ({code}, line {line})")
            if any(given != got for given, got in story.aliases.pairs(alias))
            else _("`{one}` and `{other}` are two names of one tensor ({code}, line {line})")
        ).format(one=alias.target, other=alias.source, code=wording.code(alias.text), line=alias.line)
        if names_given_at_once(alias):
            fix = _("Give `{one}` and `{other}` each a tensor of its own, in two statements.").format(
                one=alias.target, other=alias.source
            )
        else:
            fix = _("Make a copy where the second name is given: {code}.").format(
                code=wording.code(with_clone(alias.text))
            )
    else:
        fix = _("Use an operation that makes a new tensor (`inplace=False`), or pass it a copy (`{name}.clone()`).")
        if owned.site != call.callsite:
            how = _("{line} wrote its input in place").format(line=wording.line_of(owned.site))
        elif _gave_it_back(story, call, mutation.tensor):
            how = _("it returned the same tensor, written in place")
            fix = _(
                "Use an operation that makes a new tensor (`inplace=False`), or pass it a copy (`{name}.clone()`); if "
                "you want the new values, bind them to the old name: `{name} = …`."
            )
        else:
            how = _("it wrote its input in place")
        fix = fix.format(name=owned.path)
    reading, writing = at or read.callsite, call.callsite
    message = (
        _(
            "{part} overwrote `{name}` before {read} reads it in the same line: {how}. PyTorch gives no error; the "
            "read sees the new values."
        )
        if reading is not None and writing is not None and _are_parts_of_one_line(reading, writing)
        else _("{write} overwrote `{name}`, and {read} reads the new values: {how}. PyTorch gives no error.")
    )
    if call.kind == "metadata":
        message = _(
            "{write} swapped the dimensions of `{name}`, and {read} reads them swapped: {how}. PyTorch gives no error."
        )
    if reshaped(call):
        message = _(
            "{write} gave `{name}` another shape, and {read} reads it in the new one: {how}. PyTorch gives no error."
        )
    part = wording.code(writing.expression) if writing is not None else ""
    return finding(
        CODE,
        "warning",
        message=message.format(name=name, read=wording.spot(reading), write=wording.spot(writing), how=how, part=part),
        fix=fix,
        variable=written,
        read=read,
        at=at,
        tensor=mutation.tensor,
        write=call,
    )


def _gave_it_back(story: Story, write: CallEvent, tensor: int) -> bool:
    """True if what a line's expression gave is the tensor that it wrote: ``relu_(x)``, and not ``block(x)`` of which
    only the first layer works in place."""
    last = write
    while (following := story.calls.get(last.index + 1)) is not None and following.callsite == write.callsite:
        last = following
    return any(output.tensor == tensor for output in last.outputs)


def _are_parts_of_one_line(one: Callsite, other: Callsite) -> bool:
    """True if two different parts of one run of a line are meant, such as both operands of ``x + block(x)``."""
    one_run = one.same_line(other) and one.same_run(other)
    return one_run and one.expression != other.expression != other.statement


RULE = Rule(
    check,
    {CODE: Cures((flag_turned_off, at_the_second_name, value_given, bound_anew), (advice,), another_name_sees_it=True)},
)
