"""Two objects of one class count in one tensor: each continues from what the other has counted."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.fixes.new_tensor import slot_bound_anew
from inplace_magic.hazards.fixes.target import Fix, Written
from inplace_magic.hazards.references.copies import PastAnother, written_past_another
from inplace_magic.hazards.references.engine import written_for_two
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

CODE = "objects-share-state"
OF_A_CLASS = "class-attribute-written"


def found_of(story: Story, *, of_class: bool) -> Iterator[Found]:
    """Yield the writes of a tensor of two objects, where that is one of their class or where it is not."""
    return (found for found, is_of_class in story.once(_by_line) if is_of_class == of_class)


def _by_line(story: Story) -> list[tuple[Found, bool]]:
    """Return what is found of each line that writes a tensor of two objects, and whether that is one of the class."""
    found: dict[Callsite | None, tuple[Found, bool] | None] = {}
    # Objects to which somebody handed a tensor, as ``copy.total = meter.total`` does, may be meant to share it.
    handed = {alias.target.partition(".")[2] for alias in story.aliases.statements}
    for call, site, tensor, before in written_for_two(story):
        if site in found or _attribute(story, call, tensor, site) in (None, *handed):
            continue
        of_class = _of_the_class(story, call, tensor, site)
        in_turn = _object_of(before.caller) == _object_of(site.caller)
        path = story.bindings.written_path(call, tensor) or ""
        if of_class is not None and _keeps_both(story, site):
            found[site] = None
        else:
            shared = of_class is not None and not in_turn
            found[site] = Found({"line": call}, tensor, path, {"path": path, "shared": of_class}), shared
    for past in written_past_another(story):
        if past.call.callsite not in found:
            found[past.call.callsite] = _past_another(story, past), False
    return [each for each in found.values() if each is not None]


def _object_of(site: Callsite | None) -> str | None:
    """``train`` of ``train.add(labels)`` and of ``train(labels)``."""
    node = expressions.parse(site.expression) if site is not None else None
    called = node.func if isinstance(node, ast.Call) else None
    return expressions.path_text(called.value if isinstance(called, ast.Attribute) else called)


def _of_the_class(story: Story, call: CallEvent, tensor: int, site: Callsite) -> str | None:
    """Return ``Histogram.counts`` for a write of ``self.counts`` in a method of that class, if both are one tensor."""
    attribute = _attribute(story, call, tensor, site)
    shared = f"{site.function.rpartition('.')[0]}.{attribute}"
    return shared if attribute is not None and shared in story.names.get(tensor, ()) else None


def _keeps_both(story: Story, site: Callsite) -> bool:
    """True if the method of a place also writes a tensor that the object has of its own, as in ``self.total +=
    day; self.everywhere += day``: who has one of each means the one of the class for all."""
    return any(
        _attribute(story, call, mutation.tensor, here) is not None
        and _of_the_class(story, call, mutation.tensor, here) is None
        for here, call in story.writing_in.get(site.whose, ())
        for mutation in call.mutations
    )


def _attribute(story: Story, call: CallEvent, tensor: int, site: Callsite) -> str | None:
    """Return `counts` for a write of ``self.counts`` in a method."""
    owner, _dot, attribute = (story.bindings.written_path(call, tensor) or "").partition(".")
    plain = owner in site.parameters[:1] and attribute and "." not in attribute and "[" not in attribute
    return attribute if plain else None


def _past_another(story: Story, past: PastAnother) -> Found:
    """Return what is found of an object that was copied without its tensors."""
    written, message = past.copy.path, _PAST_ANOTHER
    if past.read is None:
        message = _IN_BOTH if past.original.path == written else _IN_THE_OTHER
    else:
        written = story.bindings.written_path(past.call, past.call.mutations[0].tensor) or written
    words = {"original": past.original.path, "written": past.copy.path, "kind": past.copy.kind}
    calls = {"line": past.call, "read": past.read}
    return Found(calls, past.tensor, written, words, message=message, fix=_COPY_TENSORS)


_IN_BOTH = N_(
    "{line} writes the original as well: the owner of `{written}` is a shallow copy, which holds the same "
    "tensors. PyTorch gives no error."
)
_IN_THE_OTHER = N_(
    "{line} writes `{original}` as well: the owner of `{written}` is a shallow copy, which holds the same "
    "tensors. PyTorch gives no error."
)
_PAST_ANOTHER = N_(
    "{line} wrote `{original}` as `{written}`, and {read} reads the new values: two objects of the class "
    "`{kind}` hold one tensor. PyTorch gives no error."
)
_COPY_TENSORS = N_("Copy the tensors as well: `copy.deepcopy`, or `.clone()` the written tensor.")


def _holder(path: str) -> str:
    return path.rpartition(".")[0]


def _slot_of_its_own(write: Written) -> Fix | None:
    """``self.total = self.total + x``; not where another line writes this tensor in place, too, nor where another
    function writes other tensors of the objects."""
    story, tensor, site = write.story, write.hazard.tensor, write.site
    holders = {_holder(name) for name in (*story.names.get(tensor or -1, ()), write.path or "")} - {""}
    elsewhere: set[int] = set()
    for call, mutation, _earlier in story.writes_counted:
        if mutation.tensor == tensor and not site.same_line(call.callsite):
            return None
        if not site.same_function(call.callsite):
            elsewhere.add(mutation.tensor)
    others = (_holder(name) for held in elsewhere - {tensor} for name in story.names.get(held, ()))
    return slot_bound_anew(write) if holders.isdisjoint(others) else None


RULES = rules_of(
    Row(
        CODE,
        "warning",
        partial(found_of, of_class=False),
        message=N_(
            "{line} writes `{path}` of one object over what it wrote for another: both hold the same tensor. PyTorch "
            "gives no error."
        ),
        fix=N_("Give each object a tensor of its own: `copy.deepcopy`, or make it in `__init__`."),
        ways=(_slot_of_its_own,),
    ),
    Row(
        OF_A_CLASS,
        "warning",
        partial(found_of, of_class=True),
        message=N_(
            "{line} writes `{path}` of one object over what it wrote for another: both times the tensor is `{shared}`, "
            "made in the class body, one for all objects. PyTorch gives no error."
        ),
        fix=N_(
            "Make the tensor in `__init__`, once for each object; in a dataclass write `field(default_factory=lambda: "
            "…)`."
        ),
    ),
)
