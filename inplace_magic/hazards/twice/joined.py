"""One formula uses two names of one tensor, as if one of them still held the values from before a write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations, groupby

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.fixes.of_origin import copied_where_taken
from inplace_magic.hazards.references.rereading import ran_between
from inplace_magic.hazards.rule import Calls, Found, Row, rules_of
from inplace_magic.hazards.twice.second_sides import place_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Region, TensorMetadata
from inplace_magic.record.names import AliasStatement
from inplace_magic.source import expressions
from inplace_magic.source.chains import paths_in
from inplace_magic.source.expressions import operands_given

_Memory = tuple[int | None, Region | None, int | None]
_Named = tuple[TensorMetadata, str]
"""A tensor and the name by which a line gives it."""


def joined_with_itself(story: Story) -> Iterator[Found]:
    """Yield the formulas that join two names of one tensor, with the last write before."""
    pairs = tuple({(alias.target, alias.source) for alias in story.aliases.statements})
    placed = ((site, call) for call in story.trace.calls if (site := call.callsite) is not None) if pairs else ()
    says_both = lru_cache(None)(partial(_says_both, pairs))
    for _statement, group in groupby(
        placed, lambda each: (each[0].line, each[0].statement, each[0].whose, each[0].caller)
    ):
        places, calls = zip(*group, strict=True)
        joined = _joined(calls) if any(says_both(place.expression) for place in places) else ()
        for call, pair in joined:
            alias = _second_name(story, call, {name for _meta, name in pair})
            write = _written_since(story, call, pair, alias) if alias is not None else None
            if alias is not None and write is not None and call.callsite is not None:
                words = {
                    "one": alias.target,
                    "other": alias.source,
                    "alias": wording.code(alias.text),
                    "number": alias.line,
                    "code": wording.code(f"{alias.text}.clone()"),
                }
                named = place_of(alias, call.callsite)
                yield Found({"line": call, "write": write, "named": named}, pair[0][0].tensor, alias.target, words)


def _says_both(pairs: Sequence[tuple[str, str]], expression: str) -> bool:
    """True if an expression says both names of a tensor that was given a second one."""
    said = paths_in(expression)
    return any(one in said and other in said for one, other in pairs)


def _joined(calls: Sequence[CallEvent]) -> Iterator[tuple[CallEvent, list[_Named]]]:
    """Yields a call of one statement that joins what came from a memory by one name with what came from it by another,
    and the two of them."""
    came: dict[int, dict[_Memory, _Named]] = {}
    """By tensor made in the statement: what went into it."""
    for call in calls:
        if call.error is not None or call.kind == "query" or call.mutations:
            continue
        if not came and not (call.callsite is not None and call.callsite.direct):
            continue  # the line names nothing of what library code is given
        names = [expressions.path_text(node) for _meta, node in operands_given(call) or ()] or [None] * len(call.inputs)
        given = [(came.get(meta.tensor), meta, name) for meta, name in zip(call.inputs, names, strict=True)]
        sides = [known or ({_memory(meta): (meta, name)} if name else {}) for known, meta, name in given]
        for one, other in combinations(sides if len(sides) < 3 else _with_a_second_name(sides), 2):
            for memory in one.keys() & other.keys():
                if one[memory][1] != other[memory][1] and all(out.dtype != "bool" for out in call.outputs):
                    yield call, [one[memory], other[memory]]
        merged = {memory: named for side in sides for memory, named in side.items()}
        for output in call.outputs if merged else ():
            came.setdefault(output.tensor, merged)


def _with_a_second_name(sides: list[dict[_Memory, _Named]]) -> list[dict[_Memory, _Named]]:
    """Return the sides with a memory that comes by two names: of ten thousand stacked tensors hardly any."""
    names: dict[_Memory, set[str]] = {}
    for side in sides:
        for memory, (_meta, name) in side.items():
            names.setdefault(memory, set()).add(name)
    return [side for side in sides if any(len(names[memory]) > 1 for memory in side)]


def _memory(meta: TensorMetadata) -> _Memory:
    return meta.storage, region_of(meta), None if meta.storage is not None else meta.tensor


def _second_name(story: Story, call: CallEvent, names: set[str]) -> AliasStatement | None:
    """The statement of the same function, or of another method, that gave one of the names the other's tensor."""
    site = call.callsite
    if site is None:
        return None
    owner = site.function.rpartition(".")[0]
    own = bool(owner) and all(name.startswith("self.") for name in names)
    for alias in story.aliases.statements if own else story.aliases.beside(site):
        here = (alias.cell, alias.file, alias.function.rpartition(".")[0]) == (site.cell, site.file, owner)
        if here and {alias.target, alias.source} == names:
            return alias
    return None


def _written_since(story: Story, call: CallEvent, pair: list[_Named], alias: AliasStatement) -> Write | None:
    """Return the last write of the memory before the formula, if the second name was given before it."""
    metas = [meta for meta, _name in pair]
    if any(meta.is_trainable for meta in metas) or any(story.first_seen(m.tensor) >= call.index for m in metas):
        return None
    writes = story.writes_to_memory(metas[0].storage)
    last = next((write for write in reversed(writes) if write.at < call.index and write.site is not None), None)
    if last is None or last.site is None or last.site.same_statement(call.callsite):
        return None
    if call.callsite is not None and alias.function == call.callsite.function:
        since = last.at if last.call is not None else last.at - 1
        return None if ran_between(story, alias, call.callsite, since, call.index) else last
    taken = [made.index for m in metas if (made := story.innermost_new(m.tensor, call.index)) and made.kind == "view"]
    began = alias.function.endswith(".__init__") and (last.site.function != alias.function)
    return last if (taken and max(taken) < last.at) or (not taken and began) else None


RULES = rules_of(
    Row(
        "joined-with-itself",
        "warning",
        joined_with_itself,
        Calls(write="write", read="line", origin="named"),
        message=N_(
            "{line} computes with `{one}` and `{other}` as if they were two tensors, but {alias} (line {number}) made "
            "no copy: what {write} wrote is in both. PyTorch gives no error."
        ),
        fix=N_("Make a copy where the second name is given: {code}."),
        ways=(copied_where_taken,),
        gives_way=True,
    ),
)
