"""A backward went into a graph that an earlier backward had used up.

A forward pass leaves a graph, and what its nodes saved. A backward goes through it once and frees what was saved on its
way, to give the memory back, so the next one finds nothing there: "Trying to backward through the graph a second time"
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html). The message names neither of the two
backwards. Most often the second one is of a later pass of a loop and has a loss of its own; but something that was
carried over, such as a hidden state, leads from the new graph into the old one.

Bad::

    h = torch.zeros(2, 4)
    for x in batches:
        h = cell(x, h)              # goes on from the pass before, and from its graph
        h.pow(2).mean().backward()  # raises in the second pass

Good::

    h = torch.zeros(2, 4)
    for x in batches:
        h = h.detach()              # the values alone: gradients end where the pass begins
        h = cell(x, h)
        h.pow(2).mean().backward()

``retain_graph=True``, which PyTorch's message proposes, is right where one graph shall be used twice, with the values
that it was built from. A state that is carried over then keeps the graphs of all passes, and each backward goes through
all of them. Where the first backward is not in the record, as when it ran before the watch began, the finding says so.

Told from what PyTorch refused, and from the graph: which nodes each backward of the record went through, and whether it
was asked to keep them; the one that let go of a node is named, and the tensor by which the later graph leads into the
older one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.carried_state import cut_off
from inplace_magic.hazards.fixes.step_advice import detached, state_names
from inplace_magic.hazards.rule import Rule
from inplace_magic.hazards.stepped import Carried
from inplace_magic.language import _, sentences
from inplace_magic.record.autograd import AutogradNode
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source.listing import diff, listing_of

CODE = "graph-used-twice"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place of a backward that PyTorch refused so."""
    seen = set()
    for call, refusal in story.refusals():
        if (
            call is None
            or refusal.kind != "graph used up"
            or call.index not in story.backwards
            or call.callsite in seen
        ):
            continue
        seen.add(call.callsite)
        yield _hazard(_Twice(story, call))


@dataclass(frozen=True)
class _Twice:
    """The refused backward, and what the record tells of the one before it."""

    story: Story
    second: CallEvent

    @cached_property
    def reached(self) -> set[int]:
        """The nodes to which it can come, without those of leaves, which save nothing."""
        found = self._through(self.second.index)
        return {number for number in found if self.story.nodes[number].variable is None}

    def _through(self, index: int) -> set[int]:
        backward = self.story.backwards[index]
        found = self.story.reached(backward.roots)
        return found if backward.inputs is None else found & self.story.leading_to(set(backward.inputs))

    @cached_property
    def first(self) -> tuple[CallEvent, AutogradNode] | None:
        """The backward that freed the graph, and the first freed node that the second one meets (the engine goes from
        the youngest to the oldest); one that failed on its way only where none else came there."""
        story = self.story
        earlier = [
            index
            for index, backward in story.backwards.items()
            if index < self.second.index and index in story.calls and not backward.retain_graph
        ]
        saving = {saved.node for saved in story.saved}
        for failed in (False, True):
            by_node: dict[int, int] = {}
            for index in sorted(earlier):
                if (story.calls[index].error is not None) == failed:
                    for number in self._through(index) & self.reached:
                        by_node.setdefault(number, index)
            used = [story.nodes[number] for number in by_node if number in saving] or [
                story.nodes[number] for number in by_node
            ]
            if used:
                node = max(used, key=lambda node: (node.sequence or 0, -node.node))
                return story.calls[by_node[node.node]], node
        return None

    @cached_property
    def old(self) -> set[int]:
        """The nodes that were used up; where the first backward is not known, those from before the watch."""
        if self.first is not None:
            return self._through(self.first[0].index) & self.reached
        begun = next((call.sequence for call in self.story.trace.calls if call.sequence is not None), 0)
        return {n for n in self.reached if (self.story.nodes[n].sequence or 0) < begun}

    @property
    def is_of_one_result(self) -> bool:
        """Whether both backwards begin at the same result, or the second inside the graph of the first."""
        return set(self.story.backwards[self.second.index].roots) <= self.old

    @cached_property
    def joints(self) -> list[Carried]:
        """The tensors of the old graph from which the younger part of the second one goes on."""
        story = self.story
        found: dict[int, Carried] = {}
        for number in sorted(self.reached - self.old):
            reader = story.calls.get(story.nodes[number].call or -1)
            for meta in reader.inputs if reader is not None else ():
                if meta.node in self.old and reader is not None and meta.node in story.nodes[number].next:
                    made = story.innermost_new(meta.tensor, reader.index)
                    name = story.bindings.name(meta.tensor)
                    carried = self._is_carried(reader, meta.node)
                    found.setdefault(meta.tensor, Carried(meta.tensor, name, reader.callsite, made, carried))
        return list(found.values())

    def _is_carried(self, reader: CallEvent, node: int) -> bool:
        """Whether a reader of a later pass goes on from what the same line made in an earlier one."""
        story = self.story
        if self.first is None or reader.index < self.first[0].index:
            return False
        calls = (story.calls.get(story.nodes[behind].call or -1) for behind in story.reached([node]))
        line = reader.callsite
        return line is not None and any(line.same_line(call.callsite) for call in calls if call is not None)

    @property
    def stepped(self) -> CallEvent | None:
        """The first call between the two that wrote a leaf behind what was used up."""
        if self.first is None:
            return None
        leaves = {self.story.nodes[number].variable for number in self.story.reached(self.old)}
        between = (c for c in self.story.trace.calls if self.first[0].index < c.index < self.second.index)
        wrote = (c for c in between if any(mutation.tensor in leaves for mutation in c.mutations))
        return next((call for call in wrote if call.callsite is not None), None)

    @property
    def result(self) -> str:
        """The result of the second backward."""
        found = (
            self.story.bindings.written_name(self.second, self.second.inputs[0].tensor) if self.second.inputs else None
        )
        return f"`{found}`" if found is not None else _("the result")


def _hazard(twice: _Twice) -> Hazard:
    first, node = twice.first if twice.first is not None else (None, None)
    saver, made = twice.story.saver_site(node) if node is not None else (None, None)
    message, fix = _not_in_the_record(twice) if first is None else _told(twice, first, made)
    names = [joint.name for joint in twice.joints if joint.name is not None]
    return Hazard(
        code=CODE,
        severity="error",
        message=message,
        fix=fix,
        diff=_diff(twice) if first is not None and _all_carried(twice) else "",
        variable=names[0] if names else None,
        saved=made,
        saved_by=node.name if node is not None else None,
        freed=first.callsite if first is not None else None,
        saved_call=saver.index if saver is not None else None,
        read_call=twice.second.index,
        raised=True,
    )


def _told(twice: _Twice, first: CallEvent, made: Callsite | None) -> tuple[str, str]:
    second, forward = twice.second.callsite, wording.spot(made)
    again, before = wording.spot(second), wording.spot(first.callsite)
    if first.error is not None:
        return (
            _(
                "{second} goes into a graph that {first} had gone through before: that backward failed on its way, and "
                "had freed what it had passed by then."
            ).format(second=again, first=before),
            _("Compute {result} anew before {second}: a backward that fails leaves its graph half freed.").format(
                result=twice.result, second=wording.line_of(second)
            ),
        )
    if twice.is_of_one_result and first.callsite == second:
        message = _(
            "{second} goes through one graph in each pass, and {forward} made that graph before: the first pass freed "
            "what it had saved for backward."
        )
    elif twice.is_of_one_result:
        message = _(
            "{second} goes through the graph of {result} again: {first} had gone through it before, and freed what it "
            "had saved for backward. {forward} made it."
        )
    elif _all_carried(twice) and first.callsite == second:
        message = _(
            "{second} comes by way of {names} into the graph of an earlier pass: in that pass it had gone through it "
            "already, and freed what it had saved for backward."
        )
    elif _all_carried(twice):
        message = _(
            "{second} comes by way of {names} into the graph of an earlier pass: {first} had gone through that before, "
            "and freed what it had saved for backward."
        )
    else:
        message = _(
            "{second} comes by way of {names} into a part of the graph that {first} had gone through before: "
            "that freed what it had saved for backward. {forward} made it."
        )
    return (
        message.format(second=again, first=before, forward=forward, result=twice.result, names=_names(twice)),
        _fix(twice, first, made),
    )


def _fix(twice: _Twice, first: CallEvent, made: Callsite | None) -> str:
    second, before = wording.line_of(twice.second.callsite), wording.spot(first.callsite)
    wrote = twice.stepped
    if _all_carried(twice):
        return _cut_off(twice)
    what = twice.result if twice.is_of_one_result else _names(twice)
    if wrote is not None and first.callsite != twice.second.callsite:
        return _(
            "Compute {what} anew after {step}, from {forward} on: that changed the values from which the graph was "
            "built, so keeping it by `retain_graph=True` would not help."
        ).format(what=what, step=wording.line_of(wrote.callsite), forward=wording.line_of(made))
    if first.callsite == twice.second.callsite:
        return _(
            "Compute {what} anew in each pass: put {forward}, and what follows from it, into the loop. "
            "`retain_graph=True` is right only where the same graph, with the same values, shall be used again."
        ).format(what=what, forward=wording.line_of(made))
    if twice.is_of_one_result:
        return _(
            "Compute {what} anew before {second}, or run backward once. Where one graph shall be used twice, pass "
            "`retain_graph=True` to {first}."
        ).format(what=what, second=second, first=before)
    return _(
        "Where both shall go through it, run backward once, on the sum of the two results, or pass `retain_graph=True` "
        "to {first}. Where only one shall, hand the other the values alone, by `.detach()` of {what}."
    ).format(first=before, what=what)


def _cut_off(twice: _Twice) -> str:
    reader, second = twice.joints[0].reader, twice.second.callsite
    names: list[str] = []
    if reader is not None and second is not None:
        names = state_names(where_they_part(reader.chain, second.chain)[0], twice.joints)
    keeps = _(
        "`retain_graph=True` would keep the graphs of all passes, and each backward would go back through all of them."
    )
    if not names:
        return sentences(
            _("Begin each pass with the state cut off from the pass before, by `.detach()`."),
            keeps,
        )
    return sentences(
        _("Begin each pass with {detached}; gradients then end where the pass begins.").format(
            detached=wording.code(detached(names, twice.joints))
        ),
        keeps,
    )


def _diff(twice: _Twice) -> str:
    """The line that cuts the state off, where the loop whose passes hand it on is in sight."""
    reader, second = twice.joints[0].reader, twice.second.callsite
    if reader is None or second is None:
        return ""
    place = where_they_part(reader.chain, second.chain)
    listing = listing_of(twice.story.trace, place[1])
    statement = listing.statement_at(place[1]) if listing is not None else None
    if listing is None or statement is None or not place[0].same_function(place[1]):
        return ""
    edits = cut_off(listing, statement, place[0], twice.joints)
    return diff(place[1], listing, edits) if edits else ""


def _all_carried(twice: _Twice) -> bool:
    return bool(twice.joints) and all(joint.recurrent for joint in twice.joints)


def _names(twice: _Twice) -> str:
    names = dict.fromkeys(f"`{joint.name}`" for joint in twice.joints if joint.name is not None)
    if names:
        return _(" and ").join(list(names)[:3])
    return wording.spot(twice.joints[0].reader) if twice.joints else _("the graph's earlier part")


def _not_in_the_record(twice: _Twice) -> tuple[str, str]:
    """What is said where no backward of the record had gone through that graph."""
    second = wording.spot(twice.second.callsite)
    if twice.old and not twice.story.trace.threads_started:
        message = _(
            "{second} goes into a graph from before this watch began, which another backward had gone through by then: "
            "that freed what it had saved for backward."
        )
    else:
        message = _(
            "{second} goes into a graph that another backward had gone through before: that freed what it had saved "
            "for backward. Which one it was is not in the record."
        )
    fix = _(
        "Compute the result anew before {line}, or hand on the values alone, by `.detach()`, of what comes from "
        "before. A watch that begins before the forward pass names the first backward."
    )
    return message.format(second=second), fix.format(line=wording.line_of(twice.second.callsite))


RULE = Rule(check)
