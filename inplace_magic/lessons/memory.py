"""Lessons 1 to 3 and 9: names, tensors and storages; the three kinds of operation; what an in-place ReLU overwrites;
and what a write in place saves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch

from inplace_magic.analysis.memory.ledger import Ledger, LineMemory
from inplace_magic.hazards.notes import SAVED_NOTHING
from inplace_magic.language import _, ngettext
from inplace_magic.lessons.exercise import Feedback, Happened
from inplace_magic.lessons.judging import (
    Attempt,
    attempt,
    attempt_with_backward,
    numbers_of,
    refuse_strangers,
    right,
    run_of_program,
    succeeded,
    wrong,
)
from inplace_magic.lessons.programs import numbers
from inplace_magic.lessons.telling import (
    calls_that_write,
    facts_of,
    is_copy,
    line_of,
    maker_of,
    notes_of,
    spot,
    what_happened,
    writes_to,
)
from inplace_magic.record.events import CallEvent
from inplace_magic.render import words


def who_holds_fives(program: Callable[[], Any], answer: Collection[str]) -> Feedback:
    run = run_of_program(program)
    holds = {name for name, tensor in run.result.items() if bool((tensor == 5).all())}
    given = set(answer)
    strange = sorted(given - run.result.keys())
    if strange:
        text = _("`program` has no variable `{name}`; it has {names}.")
        return wrong(text.format(name=strange[0], names=", ".join(f"`{each}`" for each in run.result)))
    off = [name for name in run.result if (name in given) != (name in holds)]
    if off:
        return wrong(*(_why_it_shows(run, name, name in holds) for name in off), run=run)
    return right(*(_why_it_shows(run, name, True) for name in sorted(holds)))


def _why_it_shows(run: Attempt, name: str, holds: bool) -> str:
    write = calls_that_write(run.report)[-1]
    facts, written = facts_of(run.report, run.result[name]), write.mutations[0].storage
    tensor = f"T{facts.tensor}" if facts is not None else "?"
    storage = f"S{facts.storage}" if facts is not None else "?"
    text = _("{write} wrote storage S{written}; `{name}` ({tensor}) lies on {storage}, so it shows no fives.")
    if holds:
        text = _("{write} wrote storage {storage}, and `{name}` ({tensor}) lies on it: it shows the fives.")
    return text.format(write=spot(write), written=written, storage=storage, name=name, tensor=tensor)


def bumped(bump: Callable[[Any], Any]) -> Feedback:
    x = torch.tensor([3.0, 4.0, 5.0])
    given, view = x.tolist(), x[1:]
    run = succeeded(attempt(bump, x))
    if x.tolist() == given:
        text = _("The tensor that `bump` was given is unchanged: {values}, at version {version}.")
        return wrong(text.format(values=f"`{given}`", version=x._version), run=run)
    if x.tolist() != [value + 1 for value in given]:
        text = _("The tensor that `bump` was given was {given} and is {values} now; each element should be 1 more.")
        return wrong(text.format(given=f"`{given}`", values=f"`{x.tolist()}`"), run=run)
    if x._version == 0:
        text = _(
            "The values are right, but the version counter still says 0: this write bypassed PyTorch's bookkeeping, "
            "and autograd will never hear of it."
        )
        return wrong(text, run=run)
    if run.result is not x:
        text = _("The write is right. But `bump(x) is x` is false: return the tensor that you were given.")
        return wrong(text, run=run)
    text = _("{write} wrote the caller's tensor, and its view sees it too: `{view}`.")
    return right(text.format(write=spot(calls_that_write(run.report)[0]), view=view.tolist()))


KINDS = ("ordinary", "view", "in-place")


def name_the_kinds(program: Callable[[Any], Any], answer: Mapping[int, str]) -> Feedback:
    strange = sorted({str(kind) for kind in answer.values()} - set(KINDS))
    if strange:
        text = _("`{answer}` is not one of the kinds; write {kinds}.")
        return wrong(text.format(answer=strange[0], kinds=", ".join(f'`"{kind}"`' for kind in KINDS)))
    run = succeeded(attempt(program, torch.tensor([[-3.0, -2.0, -1.0], [0.0, 1.0, 2.0]])))
    rows = what_happened(run.report)
    of_line = {line: _deciding(run.report.calls, line) for line in answer}
    lost = [line for line, call in of_line.items() if call is None]
    if lost:
        return wrong(_("Line {line} of `program` made no torch call.").format(line=lost[0]), run=run)
    off = [call for line, call in of_line.items() if call is not None and call.kind != answer[line]]
    if off:
        return wrong(*(_kind_of(call, rows) for call in off))
    text = _("Seven lines, all named correctly. {count} of them wrote into memory that was there already.")
    return right(text.format(count=sum(kind == "in-place" for kind in answer.values())))


def _deciding(calls: list[CallEvent], line: int) -> CallEvent | None:
    """The call of a line that gives it its kind: one that writes, else the last."""
    here = [call for call in calls if line_of(call) == line and call.kind in KINDS]
    return next((call for call in here if call.kind == "in-place"), here[-1] if here else None)


def _kind_of(call: CallEvent, rows: tuple[Happened, ...]) -> str:
    text = {
        "ordinary": _("{call} is ordinary: {doings}. It took new memory, and wrote into no existing tensor."),
        "view": _("{call} is a view: {doings}. It is another tensor, and the memory was there already."),
        "in-place": _("{call} is in-place: {doings}. It wrote into a tensor that existed already."),
    }[call.kind]
    doings = _("; ").join(row.what for row in rows if row.place == words.place(call.callsite))
    return text.format(call=spot(call), doings=doings)


def doubled(double_first_column: Callable[[Any], Any]) -> Feedback:
    m = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    run = succeeded(attempt(double_first_column, m))
    written = calls_that_write(run.report)
    if m.tolist() != [[2.0, 2.0, 3.0], [8.0, 5.0, 6.0]]:
        text = _("The matrix was written, but it holds {values} now; only its first column should be doubled.")
        if not written:
            text = _("The matrix is as it was: none of your calls was in-place.")
        return wrong(text.format(values=f"`{m.tolist()}`"), run=run)
    made = [call for call in run.report.calls if call.kind == "ordinary"]
    if made:
        return wrong(_("The numbers are right. But {call} took new memory.").format(call=spot(made[0])), run=run)
    text = _("{call} wrote through a view: no new memory was taken, and the caller's matrix holds the result.")
    return right(text.format(call=spot(written[0])))


def who_writes(functions: Sequence[Callable[[Any], Any]], answer: Collection[str]) -> Feedback:
    refuse_strangers(functions, answer)
    wrongly: list[str] = []
    writers: list[str] = []
    for function in functions:
        x = torch.tensor([-1.0, 2.0])
        run = succeeded(attempt(function, x))
        writes = bool(writes_to(run.report, x))
        sentence = _what_it_wrote(function.__name__, run, writes, x)
        if writes != (function.__name__ in answer):
            wrongly.append(sentence)
        elif writes:
            writers.append(sentence)
    return wrong(*wrongly) if wrongly else right(*writers)


def _what_it_wrote(name: str, run: Attempt, writes: bool, x: Any) -> str:
    written = calls_that_write(run.report)
    if writes:
        text = _("`{name}` changes it: {call} wrote the caller's memory, `[-1.0, 2.0]` became `{values}`.")
        return text.format(name=name, call=spot(written[-1]), values=x.tolist())
    if not written:
        return _("`{name}` leaves it alone: none of its calls is in-place.").format(name=name)
    facts, own = facts_of(run.report, x), written[-1].mutations[0].storage
    caller = f"S{facts.storage}" if facts is not None else "?"
    text = _(
        "`{name}` leaves it alone: {call} is in-place, but it wrote storage S{own}, which `{name}` itself had made; "
        "the caller's tensor lies on {caller}."
    )
    return text.format(name=name, call=spot(written[-1]), own=own, caller=caller)


def keep_one(block: Callable[[], Any]) -> Feedback:
    layers = block()
    with torch.no_grad():  # the same numbers each time, such that both ReLUs have something to do
        for parameter in layers.parameters():
            parameter.fill_(-1.0 if parameter.dim() > 1 else 1.0)
    x = torch.tensor([[[[-2.0, 3.0]]]])
    run = succeeded(attempt(layers, x))
    own = calls_that_write(run.report)
    guilty = writes_to(run.report, x)
    if guilty:
        text = _("The caller's tensor was `[-2.0, 3.0]` and is `{values}` now: {call} wrote it.")
        return wrong(text.format(values=x.flatten().tolist(), call=spot(guilty[0])), run=run)
    with torch.no_grad():
        meant = layers.conv2(torch.relu(layers.conv1(torch.relu(x))))
    if not isinstance(run.result, torch.Tensor) or not torch.equal(run.result, meant):
        text = _("The caller's tensor is safe, but the block computes something else now: both ReLUs must stay.")
        return wrong(text, run=run)
    if not own:
        text = _(
            "The caller's tensor is safe. But no call is in-place any more, and one may be: which tensor is made in "
            "`forward` and read by nobody but the next ReLU?"
        )
        return wrong(text, run=run)
    return right(*(_what_it_spares(run, call) for call in own), _("The caller's tensor is safe."))


def _what_it_spares(run: Attempt, write: CallEvent) -> str:
    made = maker_of(run.report, write)
    if made is None:
        return _("{call} writes in place.").format(call=spot(write))
    text = _("{call} writes over the result of {made}, and does no harm.")
    if is_copy(made):
        text = _("{call} writes a copy: no harm done, but the copy takes the memory that the flag saves.")
    return text.format(call=spot(write), made=spot(made))


def which_spare(functions: Sequence[Callable[[Any], Any]], answer: Collection[str]) -> Feedback:
    refuse_strangers(functions, answer)
    runs = {
        function.__name__: succeeded(
            attempt_with_backward(lambda weight, call=function: call(weight * 1.5), numbers(250, grad=True))
        )
        for function in functions
    }
    sparing = [name for name, run in runs.items() if not notes_of(run.report, SAVED_NOTHING)]
    off = [name for name in runs if (name in sparing) != (name in answer)]
    if off:
        return wrong(*(_what_it_saves(name, runs[name]) for name in off))
    return right(*(_what_it_saves(name, runs[name]) for name in runs if name not in sparing))


def _what_it_saves(name: str, run: Attempt) -> str:
    copied = notes_of(run.report, SAVED_NOTHING)  # a copy that PyTorch made before the write
    if copied:
        return _("`{name}` saves no memory. {finding}").format(name=name, finding=copied[0])
    written = calls_that_write(run.report)
    if not written:
        return _("`{name}` writes nothing.").format(name=name)
    text = _("`{name}` saves memory: {call} wrote over its input, and nothing had to be copied first.")
    return text.format(name=name, call=spot(written[-1]))


def frugal(features: Callable[..., Any]) -> Feedback:
    x, weight = numbers(64, 32), numbers(32, 16, seed=1)
    kept, meant = (x.clone(), weight.clone()), torch.relu(x @ weight + 1) * 0.5
    run = succeeded(attempt(features, x, weight))
    if not isinstance(run.result, torch.Tensor) or run.result.shape != meant.shape:
        return wrong(_("`features` should return a tensor of shape {shape}.").format(shape=list(meant.shape)))
    for name, tensor in {"x": x, "weight": weight}.items():
        written = writes_to(run.report, tensor)
        if written:
            text = _("{call} wrote `{name}`, which belongs to the caller and has to stay untouched.")
            return wrong(text.format(call=spot(written[0]), name=name), run=run)
    if not (torch.equal(x, kept[0]) and torch.equal(weight, kept[1])):
        return wrong(_("`x` or `weight` was written. The caller still needs both."), run=run)
    if not torch.allclose(run.result, meant):
        text = _("The result begins with {got}, and should begin with {wanted}.")
        return wrong(text.format(got=numbers_of(run.result[0, :3]), wanted=numbers_of(meant[0, :3])), run=run)
    size = meant.untyped_storage().nbytes()
    lines = [row for row in Ledger(run.report.trace).by_line if row.allocated_bytes]
    allocated = sum(row.allocated_bytes for row in lines)
    if allocated < 2 * size:
        text = _(
            "Your version allocates {allocated}, which is the result and no more; `x` and `weight` are as they were."
        )
        return right(text.format(allocated=words.bytes_of(allocated)))
    text = ngettext(
        "The result is right. The result alone takes {size}, and your version allocates {allocated}, in {count} line:",
        "The result is right. The result alone takes {size}, and your version allocates {allocated}, in {count} lines:",
        len(lines),
    )
    told = text.format(size=words.bytes_of(size), allocated=words.bytes_of(allocated), count=len(lines))
    return wrong(told, *map(_allocates, lines), run=run)


def _allocates(row: LineMemory) -> str:
    size = words.bytes_of(row.allocated_bytes)
    return _("{place}, `{code}`: {size}").format(place=words.place(row.site), code=words.code_of(row.site), size=size)


JUDGES: dict[str, Callable[..., Feedback]] = {
    "1.1": who_holds_fives,
    "1.2": bumped,
    "2.1": name_the_kinds,
    "2.2": doubled,
    "3.1": who_writes,
    "3.2": keep_one,
    "9.1": which_spare,
    "9.2": frugal,
}
