"""A tensor was written under one name and then read under another, as if the other still held the old values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.ledger import Owned, owners_of
from inplace_magic.analysis.overlap import copies_onto_itself
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.clone import at_the_second_name
from inplace_magic.hazards.fixes.inplace_false import advice, flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import bound_anew, value_given
from inplace_magic.hazards.references.engine import began_as_a_buffer, first_of_each_line, is_there_to_be_written
from inplace_magic.hazards.references.names import (
    are_given_at_once,
    are_taken_for_two,
    behind,
    goes_on_as_two,
    handed_out_with,
    hands_out_another_name,
    is_bound_anew,
    name_given_by_the_write,
    second_names,
    stands_for_another,
    taken_for_the_write,
)
from inplace_magic.hazards.references.rereading import (
    Rereading,
    comes_later,
    declared_in_place,
    read_again,
)
from inplace_magic.hazards.rule import At, Calls, Found, Row, rules_of
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.paths import before_last_step, is_some_entry
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import level, paths_read

CODE = "alias-written"


def alias_written(story: Story) -> Iterator[Found]:
    """Yield the first write of each line that another one takes for none: it reads the tensor by an older name.
    ``x.mul_(2).add_(1)`` is one mistake."""

    def find(call: CallEvent, mutation: Mutation) -> Found | None:
        written = call.kind == "in-place" or call.does("turns") or _is_reshaped(call)
        if not written or copies_onto_itself(call):
            return None
        return _both_handed_out(story, call, mutation) or _read_by_an_owner(story, call, mutation)

    return first_of_each_line(story.writing, find)


def _both_handed_out(story: Story, call: CallEvent, mutation: Mutation) -> Found | None:
    """Return what is found of a function that gave the written tensor a second name before the write and returns both,
    or puts both into one container, as if they were two tensors."""
    site = call.callsite
    path = story.bindings.written_path(call, mutation.tensor) if site and story.aliases.beside(site) else None
    if site is None or path is None:
        return None
    owned = Owned(path, site)
    for other, alias in handed_out_with(story, owned, call, mutation):
        read = next(story.readers(mutation.tensor, call.index, lambda place: level(place, owned.site) is None), None)
        if read is None or read.callsite is None:
            continue
        if not is_bound_anew(story, owned, other, call.index, read.index, mutation.tensor):
            again = Rereading(read, mutation.tensor, read.callsite, other, alias)
            return _found(story, call, mutation, owned, again)
    return None


def _read_by_an_owner(story: Story, call: CallEvent, mutation: Mutation) -> Found | None:
    """Return what is found of a function that knows the tensor by another name, or that the write gave it back to as if
    it were new, and that reads it by the old name."""
    if is_there_to_be_written(story, mutation):
        return None
    places = call.callsite.chain if call.callsite is not None else ()
    if began_as_a_buffer(story, mutation.storage) and not any(map(story.aliases.beside, places)):
        return None  # as nearly all writes of buffers
    for owned in owners_of(story, call, mutation):
        names = _names(story, call, mutation, owned)
        if not names:
            continue
        given = [alias for alias in names.values() if alias is not None]
        others = behind(story, mutation, given) if call.kind == "in-place" else ()
        tensors = dict.fromkeys((mutation.tensor, *others, *taken_for_the_write(story, call, mutation)))
        for read in read_again(story, call, mutation, owned, names, tensors):
            if declared_in_place(story, call, read.call, read.tensor):
                continue
            if read.alias is None and not hands_out_another_name(owned) and _is_over(story, owned, read):
                continue
            if read.alias is None or goes_on_as_two(story, read.alias, owned.path, read.at):
                return _found(story, call, mutation, owned, read)
    return None


def _names(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> dict[str, AliasStatement | None]:
    """Return the names by which a function takes the tensor for the old one: its second names, of a buffer only those
    that it takes for another tensor; and the written name itself, where the write gave back what looks new."""
    buffer = began_as_a_buffer(story, mutation.storage)
    names: dict[str, AliasStatement | None] = {
        name: alias
        for name, alias in second_names(story, owned, mutation).items()
        if not stands_for_another(story, owned, call, mutation, name, alias)
        and (not buffer or are_taken_for_two(story, alias, mutation))
    }
    # `x.unsqueeze_(1)` says itself what it does; of what a function did to its argument, see `argument-written`.
    here = (owned.site == call.callsite) != _is_reshaped(call)
    if not buffer and here and (hands_out_another_name(owned) or _is_read_by_both(story, call, mutation, owned)):
        names.setdefault(owned.path, None)
    return names


def _is_reshaped(call: CallEvent) -> bool:
    """True if a call gave a tensor another shape, as ``unsqueeze_`` does, and left its values and their order."""
    if call.kind != "metadata" or call.does("turns"):
        return False
    shapes = {meta.tensor: meta.shape for meta in call.inputs}
    return any(shapes.get(meta.tensor, meta.shape) != meta.shape for meta in call.mutated)


def _is_read_by_both(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> bool:
    """True if a write gave the tensor a second name, as ``probs = logs.exp_()`` does, and its function reads it by that
    one later on: it is taken for another tensor then. A sum that gets a name is still a sum."""
    name = name_given_by_the_write(owned)

    def counts(site: Callsite | None) -> bool:
        at = level(site, owned.site)
        return at is not None and comes_later(at, owned) and name in paths_read(site, owned.site)

    if name is None or call.callsite != owned.site or call.does("adds"):
        return False
    return next(story.readers(mutation.tensor, call.index, counts), None) is not None


def _is_over(story: Story, owned: Owned, read: Rereading) -> bool:
    """True if the name that a write gave the tensor stands for something else by the time of a read, or from this very
    statement on: ``actual = clamp_(x)``, a look at it, and then ``actual = clamp_max(x)``, is one step after the other.
    """
    name = name_given_by_the_write(owned)
    bound = story.bindings.bound_last(owned.site.function, name or "", read.call.index)
    return name in (read.at.bound or ()) or (bound is not None and bound[1] != read.tensor)


def _found(story: Story, call: CallEvent, mutation: Mutation, owned: Owned, read: Rereading) -> Found:
    how, fix = _why_one(story, read.alias) if read.alias is not None else _why_written(story, call, mutation, owned)
    message = ""
    if _is_reshaped(call):
        message = _RESHAPED
    elif call.kind == "metadata":
        message = _TURNED
    elif call.callsite is not None and _are_parts_of_one_line(read.at, call.callsite):
        message = _IN_ONE_LINE
    words = {
        "name": read.path,
        "part": wording.code(call.callsite.expression if call.callsite is not None else ""),
        "how": how,
        "cure": fix,
    }
    variable = story.bindings.written_name(call, mutation.tensor) or owned.path
    return Found({"write": call, "read": At(read.call, read.at)}, mutation.tensor, variable, words, message=message)


_RESHAPED = N_(
    "{write} gave `{name}` another shape, and {read} reads it in the new one: {how}. PyTorch gives no error."
)
_TURNED = N_(
    "{write} swapped the dimensions of `{name}`, and {read} reads them swapped: {how}. PyTorch gives no error."
)
_IN_ONE_LINE = N_(
    "{part} in {read} overwrote `{name}`, and the rest of the line reads the new values: {how}. PyTorch gives no error."
)


def _why_one(story: Story, alias: AliasStatement) -> tuple[str, str]:
    """Return why two names are one memory, and what to do, for the statement that gave the second name."""
    words = {"one": alias.target, "other": alias.source, "code": wording.code(alias.text), "line": alias.line}
    if is_some_entry(alias.target):
        words["list"] = before_last_step(alias.target)[0]
        how = _("an entry of `{list}` and `{other}` are one tensor ({code}, line {line})")
        fix = _("Store a copy, `{name}.clone()` in {code}, or make a new tensor instead of writing this one.")
        return how.format_map(words), fix.format(name=alias.source, code=words["code"])
    if any(given != got for given, got in story.aliases.pairs(alias)):
        how = _("`{one}` and `{other}` are two tensors on one memory ({code}, line {line})")
    else:
        how = _("`{one}` and `{other}` are two names of one tensor ({code}, line {line})")
    if are_given_at_once(alias):
        fix = _("Give `{one}` and `{other}` each a tensor of its own, in two statements.").format_map(words)
    else:
        copy = wording.code(_with_clone(alias.text))
        fix = _("Make a copy where the second name is given: {code}.").format(code=copy)
    return how.format_map(words), fix


def _why_written(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> tuple[str, str]:
    """Return why the name has the new values, and what to do, where nothing gave the tensor a second name."""
    fix = _("Use an operation that makes a new tensor (`inplace=False`), or pass it a copy (`{name}.clone()`).")
    if owned.site != call.callsite:
        how = _("{line} wrote its input in place").format(line=wording.line_of(owned.site))
    elif _gave_it_back(story, call, mutation.tensor):
        how = _("`{operation}` wrote its input in place and returned it").format(operation=call.operation)
        fix = _(
            "Use an operation that makes a new tensor (`inplace=False`), or pass it a copy (`{name}.clone()`); if "
            "you want the new values, bind them to the old name: `{name} = …`."
        )
    else:
        how = _("`{operation}` wrote its input in place").format(operation=call.operation)
    return how, fix.format(name=owned.path)


def _with_clone(statement: str) -> str:
    """Return an assignment, as text, that assigns a copy of its value."""
    node = expressions.parse(statement)
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.IfExp):
        return f"{statement}.clone()"
    value = ast.get_source_segment(statement, node.value) or ast.unparse(node.value)
    return statement.replace(value, f"({value}).clone()")


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


RULES = rules_of(
    Row(
        CODE,
        "warning",
        alias_written,
        Calls(write="write"),
        message=N_("{write} overwrote `{name}`, and {read} reads the new values: {how}. PyTorch gives no error."),
        fix=N_("{cure}"),
        ways=(flag_turned_off, at_the_second_name, value_given, bound_anew),
        advice=(advice,),
        another_name_sees_it=True,
    ),
)
