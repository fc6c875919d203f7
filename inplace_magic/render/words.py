"""Wording shared by all renderers, so that text, tables, page and picture call the same thing by the same name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from inplace_magic.analysis.effects import Effect
from inplace_magic.language import N_, _, listed, ngettext
from inplace_magic.language import bytes_of as bytes_of
from inplace_magic.record.events import Mutation, Number, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.render.lettering import shortened

if TYPE_CHECKING:
    from inplace_magic.report import Report

MAX_VALUES = 3
"""Changed elements that a phrase names."""
MAX_ELEMENTS = 16
"""Elements that a table's cell lists."""
MAX_NAME = 120
"""Characters of a name that is repeated wherever its tensor is."""
_KINDS = (N_("ordinary"), N_("view"), N_("in-place"), N_("metadata"), N_("query"))
_ORIGINS = (
    *(N_("given"), N_("created"), N_("viewed"), N_("mutated"), N_("reshaped")),
    *(N_("returned"), N_("shared"), N_("unseen")),
)
"""Kinds of calls, and how a version of a tensor came about."""
_FROM_OUTSIDE = {
    "given": N_("from before the watch"),
    "shared": N_("written through shared memory"),
    "unseen": N_("written unseen by the watch"),
}
_T = TypeVar("_T")


def tensor_label(tensor: int, names: dict[int, str], written: str | None = None) -> str:
    """``T4 probs``, or ``T4`` for a tensor without a name; ``T4 probs = p`` where the line that wrote it says ``p``.

    Args:
        written: what the line that wrote it calls it, if known.
    """
    name = names.get(tensor) or written
    if not name:
        return f"T{tensor}"
    other = written is not None and written.rpartition(".")[2] != name.rpartition(".")[2]
    return f"T{tensor} {shortened(name, MAX_NAME)}{f' = {shortened(written, MAX_NAME)}' if written and other else ''}"


def version(number: int | None) -> str:
    """``v0``; ``v?`` when unknown."""
    return "v?" if number is None else f"v{number}"


def version_step(before: int | None, after: int | None) -> str:
    """``v0→v1``; a write that PyTorch does not count reads ``v0→v0, not counted``."""
    step = f"{version(before)}→{version(after)}"
    return _("{step}, not counted").format(step=step) if before is not None and before == after else step


def shape(facts: TensorMetadata | None) -> str:
    """``float32[8, 5]``; ``float32`` followed by ``[]`` is a tensor without dimensions."""
    if facts is None:
        return ""
    dtype = facts.dtype.removeprefix("torch.")
    return dtype if facts.shape is None else f"{dtype}[{', '.join(map(str, facts.shape))}]"


def number(value: Number) -> str:
    """At most four significant digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def changed_values(mutation: Mutation, facts: TensorMetadata | None) -> str:
    """``[2]: 0.3 → 2``: the elements that changed, the first few of them; empty when the values were not kept."""
    before, after = mutation.values_before, mutation.values_after
    if before is None or after is None or len(before) != len(after):
        return ""
    pairs = enumerate(zip(before, after, strict=True))
    changed = [i for i, (old, new) in pairs if old != new and (old == old or new == new)]  # not where both are NaN
    if not changed:
        return _("values unchanged")
    sizes = facts.shape if facts is not None else None
    shown = ", ".join(f"{_at(i, sizes)}{number(before[i])} → {number(after[i])}" for i in islice(changed, MAX_VALUES))
    more = len(changed) - MAX_VALUES
    return _("{shown} and {count} more").format(shown=shown, count=more) if more > 0 else shown


def values(elements: tuple[Number, ...] | None) -> str:
    """``0.9, 0.4, 0.3, …``: the first few; empty when they were not kept."""
    if elements is None:
        return ""
    shown = ", ".join(number(value) for value in elements[:MAX_ELEMENTS])
    return f"{shown}, …" if len(elements) > MAX_ELEMENTS else shown


def effect_phrase(row: Effect, names: dict[int, str]) -> str:
    """What the call did to the tensor, e.g. ``mutated in place v0→v1: [2]: 0.3 → 2``."""
    if row.kind == "mutated" and row.mutation is not None:
        phrase = _("mutated in place {step}").format(step=version_step(row.version_before, row.version_after))
        changed = changed_values(row.mutation, row.after or row.before)
        return f"{phrase}: {changed}" if changed else phrase
    if row.kind == "reshaped":
        text = _("changed shape or strides, {before} to {after}, data untouched")
        return text.format(before=shape(row.before), after=shape(row.after))
    if row.kind == "viewed":
        if row.base is None:
            return _("view")
        return _("view of {tensor}").format(tensor=tensor_label(row.base.tensor, names))
    if row.kind == "returned":
        return _("returned unchanged, the same object")
    return _("created")


def _sameness(row: Effect) -> tuple[bool, bool]:
    """Say whether the result is the input object, and whether it is on the input's memory."""
    if row.kind == "mutated":
        return True, True
    if row.kind in ("reshaped", "returned"):
        moved = row.before and row.after and row.before.storage != row.after.storage
        return True, not moved
    return False, row.kind == "viewed"


_SAMENESS = {
    (True, True): (N_("same object, same memory"), N_("same / same")),
    (True, False): (N_("same object, other memory"), N_("same / other")),
    (False, True): (N_("new object, same memory"), N_("new / same")),
    (False, False): (N_("new object, new memory"), N_("new / new")),
}
"""In a sentence, and under the heading ``Object / memory``."""


def same_object(row: Effect, *, short: bool = False) -> str:
    """Return whether it is the object that went in, and whether it is the memory that went in."""
    return _(_SAMENESS[_sameness(row)][short])


def place(site: Callsite | None) -> str:
    """``Cell In[7], line 4``; ``unknown place`` when the call's place could not be told."""
    return _("unknown place") if site is None or site.line == 0 else site.place


def short_place(site: Callsite | None, trace: Trace) -> str:
    """As :func:`place`, but only ``line 4`` for a line of the watched cell itself."""
    own = site is not None and site.line and site.cell is not None and site.cell == trace.cell
    return _("line {line}").format(line=site.line) if own and site is not None else place(site)


def near(text: str, cell: int | None) -> str:
    """Return a sentence with ``line 5`` in place of ``Cell In[3], line 5``, for lines of this cell."""
    return re.sub(rf"Cell In\[{cell}\], line (\d+)", lambda found: _("line {line}").format(line=found[1]), text)


def place_and_code(site: Callsite | None) -> str:
    """``model.py:31: x = self.relu(x)``; the place alone where the code is not known."""
    return f"{place(site)}: {code_of(site)}" if code_of(site) else place(site)


def said(word: str) -> str:
    """Return a kind of calls, or an origin of versions, for the reader; another word as it is."""
    return _("made inside") if word == "inside" else _(word) if word in (*_KINDS, *_ORIGINS) else word


def came_by(origin: str) -> str:
    """Return how a version came about that no call in sight made; empty for one that a call made."""
    return _(_FROM_OUTSIDE[origin]) if origin in _FROM_OUTSIDE else ""


def known(fact: _T | None, show: Callable[[_T], str] = str) -> str:
    """Return a fact as `show` writes it; ``unknown`` for none."""
    return _("unknown") if fact is None else show(fact)


def calls_of(count: int) -> str:
    """``1 call``, ``2 calls``."""
    return ngettext("{count} call", "{count} calls", count).format(count=count)


def traits(facts: TensorMetadata) -> str:
    """``leaf, requires grad``; empty for none."""
    told = (
        _("leaf") if facts.is_leaf else "",
        _("view") if facts.is_view else "",
        _("requires grad") if facts.requires_grad else "",
    )
    return listed(trait for trait in told if trait)


def at_least(counted: str, partial: bool) -> str:
    """``at least 499 more passes`` where some were not counted; else as it is."""
    return _("at least {counted}").format(counted=counted) if partial else counted


def times(count: int) -> str:
    """`` ×16``; empty for one."""
    return f" ×{count}" if count > 1 else ""


def with_detail(text: str, detail: str) -> str:
    """``saved here (by SigmoidBackward0)``; the text alone without a detail."""
    return _("{text} ({detail})").format(text=text, detail=detail) if detail else text


def counted(times: Mapping[str, int]) -> str:
    """``A, B ×2``: each name once, with how often it comes."""
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in times.items())


def of_report(report: Report, code: str) -> str:
    """How somebody asks a report for more, such as `unet.memory`; where no variable holds it, also how one comes to."""
    asked = f"`{report.name or 'report'}.{code}`"
    return asked if report.name else with_detail(asked, _("after `report = %inplace_report`"))


def left_out(report: Report, more: int, code: str) -> str:
    """How many rows are not shown, and which code gives all; empty for none."""
    text = ngettext(
        "{count} more row not shown; {frame} gives all of them.",
        "{count} more rows not shown; {frame} gives all of them.",
        more,
    )
    return text.format(count=more, frame=of_report(report, code)) if more > 0 else ""


def passes_of(count: int, partial: bool) -> str:
    """``499 more passes``, ``at least 3 more passes``."""
    return at_least(ngettext("{count} more pass", "{count} more passes", count).format(count=count), partial)


def code_of(site: Callsite | None) -> str:
    """Return the source line without surrounding space; empty when unknown."""
    return "" if site is None else site.text.strip()


def callers(site: Callsite | None, cell: int | None = None) -> tuple[Callsite, ...]:
    """Return the places in the user's code that led to a line, the nearest first, up to the line of the watched cell.

    Args:
        cell: execution count of the watched cell; what called that cell (a script that runs notebooks) is left out.
    """
    chain: list[Callsite] = []
    while site is not None and (around := site.around).caller is not None:
        if cell is not None and around.cell == cell and around.function == "<module>":
            break
        site = around.caller
        if site is not None:
            chain.append(site)
    return tuple(chain)


def _at(index: int, sizes: tuple[int, ...] | None) -> str:
    if not sizes or 0 in sizes:
        return ""
    where: list[int] = []
    for size in reversed(sizes):
        index, position = divmod(index, size)
        where.insert(0, position)
    return f"[{', '.join(map(str, where))}]: "
