"""What the timeline says in signs and words: of an event, of what is kept, of the moment of the crime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from inplace_magic.analysis.lanes import Lane
from inplace_magic.analysis.marks import Keeping, Mark
from inplace_magic.analysis.timeline import Column
from inplace_magic.hazards import Hazard
from inplace_magic.language import N_, _, ngettext
from inplace_magic.render import lettering, words
from inplace_magic.render.reading import Reading

SIGNS = {
    "created": ("+", N_("created")),
    "viewed": ("≡", N_("view: another tensor on it")),
    "mutated": ("✎", N_("written in place")),
    "uncounted": ("✎!", N_("written past the version counter")),
    "unseen": ("✎?", N_("written by a call not seen")),
    "reshaped": ("↻", N_("shape or strides changed")),
    "moved": ("⇄", N_("tensor gets other memory")),
    "rebound": ("→", N_("name goes to another tensor")),
    "saved": ("●", N_("kept for backward")),
    "read": ("←", N_("read by backward")),
    "raised": ("✗", N_("raised an error")),
    "more": ("⋯", N_("more, in calls not shown")),
}
"""Sign and meaning of each kind of event, in the order of the legend; where tables have a sign for it, the same."""
LONGEST_NAME = 24
"""Characters of a name in a mark's sentence; a longer one stands at the lane only."""


def of_mark(mark: Mark, reading: Reading) -> str:
    """Return one sentence, e.g. ``T4 probs: written, v0→v1``."""
    said = {
        "created": _("{tensor}: created"),
        "viewed": _("{tensor}: view"),
        "mutated": _("{tensor}: written, {versions}"),
        "uncounted": _("{tensor}: written past the version counter, {versions}"),
        "unseen": _("{tensor}: written before this call, not seen by whom"),
        "reshaped": _("{tensor}: other shape or strides, data untouched"),
        "moved": _("{tensor}: other memory from here on"),
        "rebound": _("`{name}` is another tensor from here on"),
        "raised": _("{tensor}: refused"),
    }[mark.kind]
    versions, name = words.version_step(mark.before, mark.after), lettering.shortened(mark.name, LONGEST_NAME)
    return said.format(tensor=_label(mark.tensor, reading), versions=versions, name=name)


def _label(tensor: int | None, reading: Reading) -> str:
    if tensor is None:
        return _("memory")
    name = reading.names.get(tensor, "")
    return f"T{tensor} {name}" if name and len(name) <= LONGEST_NAME else f"T{tensor}"


def of_savers(kept: Sequence[Keeping]) -> str:
    """``MulBackward0 ×2, TanhBackward0``: the nodes that keep."""
    return words.counted(Counter(keeping.node for keeping in kept))


def of_keepings(kept: Sequence[Keeping], reading: Reading) -> str:
    """Return one sentence, e.g. ``SigmoidBackward0 keeps v0 (result) until backward, line 7, freed it``."""
    keeping = kept[0]
    said = {
        "freed": _("{node} keeps {version} ({names}) until backward, line {line}, freed it"),
        "died": _("{node} keeps {version} ({names}) until it died"),
        "kept": _("{node} keeps {version} ({names}) to the end of the watch"),
        "unknown": _("{node} keeps {version} ({names}), until when is not known"),
    }[keeping.end]
    last = reading.calls.get(keeping.until)
    line = last.callsite.line if last is not None and last.callsite is not None else "?"
    versions = "/".join(dict.fromkeys(words.version(each.version) for each in kept))
    names = ", ".join(dict.fromkeys(name for each in kept for name in each.names))
    shown = lettering.shortened(names, 2 * LONGEST_NAME)
    return said.format(node=of_savers(kept), version=versions, names=shown, line=line)


def of_crime(hazard: Hazard, mark: Mark | None, reading: Reading) -> str:
    """``SigmoidBackward0 saved v0 in line 5, overwritten in line 6``."""
    if mark is not None and mark.kind == "raised":
        text = _("refused in {place}")
    elif hazard.saved is None:
        text = _("overwritten in {place}")
    elif mark is not None and mark.kind == "uncounted":
        text = _("{node} saved {version} in {saved}, overwritten past the version counter in {place}")
    else:
        text = _("{node} saved {version} in {saved}, overwritten in {place}")
    place, saved = (reading.place(site) for site in (hazard.mutation, hazard.saved))
    version = words.version(hazard.expected_version)
    return text.format(version=version, saved=saved, place=place, node=hazard.saved_by or _("a node"))


def of_gap(column: Column) -> str:
    """``499 more passes, 3493 calls``; ``12 calls``."""
    calls = words.at_least(words.calls_of(column.calls), column.partial)
    if not column.passes:
        return calls
    return _("{passes}, {calls}").format(passes=words.passes_of(column.passes, column.partial), calls=calls)


def of_hidden(marks: list[Mark]) -> str:
    """What happened to a lane within a gap, e.g. ``12 events, 4 of them writes, v1→v5``."""
    writes = [mark for mark in marks if mark.is_write]
    if not writes:
        return ngettext("{count} event, no write", "{count} events, no write", len(marks)).format(count=len(marks))
    count, written = (sum([mark.passes for mark in some]) for some in (marks, writes))
    versions = words.version_step(writes[0].before, writes[-1].after)
    return ngettext(
        "{count} event, {writes} of them writes, {versions}", "{count} events, {writes} of them writes, {versions}",
        count,
    ).format(count=count, writes=written, versions=versions)  # fmt: skip


def of_lane(lane: Lane, reading: Reading) -> tuple[str, bool, list[str]]:
    """What stands beside a lane: its names, or what made it; whether these are names; and the facts under it."""
    stay = [name.name for name in lane.names if name.until is None]
    gone = [name for name in lane.names if name.until is not None]
    maker = reading.calls.get(lane.first)
    facts = [lane.key, *([words.bytes_of(lane.nbytes)] if lane.nbytes is not None else ())]
    if stay:
        return ", ".join(stay), True, facts
    if gone:
        line = gone[0].until.line if gone[0].until is not None else 0
        until = _("until line {line}").format(line=line) if line else _("until it was rebound")
        return ", ".join(name.name for name in gone), True, [*facts, until]
    if maker is None:
        return lane.key, False, facts[1:]
    return _("by {call}").format(call=maker.name), False, facts
