"""Where a list or dict of the user's keeps one tensor in several slots, and who reads it there.

``curve.append(total)`` in a loop puts the same tensor into each slot as long as ``total`` is written in place. The
namespace shows at the end which slots hold it (``curve[0]``, ``replay[3][2]``, ``logs[1]["loss"]``).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.objects.one_list import is_still_there
from inplace_magic.hazards.references.objects.passes import made_and_written_by_one_line
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement, Holding
from inplace_magic.record.paths import before_last_step, entries_in
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import FUNCTIONS, LOOPS, Listing, listing_of, texts, whole_listing
from inplace_magic.source.variables import variables_read


def kept_and_read(story: Story, mutation: Mutation) -> tuple[str, str] | None:
    """Two slots that one statement filled with the written tensor in several of its runs, and that are read after the
    last write; None where there are none."""
    meta = story.observations.get(mutation.tensor)
    if meta is None or meta.is_trainable:
        return None  # a parameter may well stand twice in a list
    tensor = mutation.tensor
    once = len(story.writes_to_tensor.get(tensor, ())) < 2
    if once and not made_and_written_by_one_line(story, mutation):
        return None
    for container, slots in slots_of(story, tensor).items():
        if len(slots) < 2 or not _is_filled(story, container, tensor):
            continue
        if not _reads_another_slot(story, tensor, container):
            continue
        if not once or _reads_an_earlier_slot(story, tensor, container, slots):
            return f"`{slots[0]}`", f"`{slots[-1]}`"
    return None


def gradients_kept_twice(story: Story) -> Iterator[tuple[Write, int, tuple[str, str]]]:
    """(backward that added, gradient, two slots) where a list or dict holds the gradient of one parameter twice, as
    ``grads.append(w.grad)`` does after each of two backwards, and is read when both are there."""
    for backward in story.trace.backwards:
        for entry in backward.added_to:
            if len(story.names.get(entry.leaf, ())) > 1:
                continue  # a parameter in two places has one gradient in two
            added = story.added_to[entry.storage]
            for tensor in story.bindings.by_storage.get(entry.storage, ()):
                for container, slots in slots_of(story, tensor).items():
                    if len(slots) > 1 and next(_reads(story, tensor, added[-1], container), None) is not None:
                        site = story.calls[added[-1]].callsite
                        write = Write(None, None, added[-1], site=site)
                        yield write, tensor, (f"`{slots[0]}`", f"`{slots[-1]}`")


def _reads_another_slot(story: Story, tensor: int, container: str) -> bool:
    """Whether somebody reads the container after the last write who does not just read each slot as soon as it is
    filled, like ``print(batches[-1])`` below ``batches.append(buffer)``."""
    writes = [write.index for write, _ in story.writes_to_tensor[tensor]]
    reads = list(_reads(story, tensor, writes[0], container))
    last = Counter(read.callsite for read in reads if read.index > writes[-1])
    before = {read.callsite for read in reads if read.index < writes[-1]}
    return any(times > 1 or place not in before for place, times in last.items())


def _reads_an_earlier_slot(story: Story, tensor: int, container: str, slots: list[str]) -> bool:
    """Whether somebody reads, after the last write, all of the container or a slot that was filled before the last one.
    Of ``maps[i]`` nobody knows which one it is."""
    last = story.writes_to_tensor[tensor][-1][0].index
    name, keys = container.rpartition(".")[2], {slot[len(container) :] for slot in slots[:-1]}
    for read in _reads(story, tensor, last, container):
        for place in read.callsite.chain if read.callsite is not None else ():
            listing = listing_of(story.trace, place)
            statement = listing.statement_at(place) if listing is not None else None
            if listing is None or statement is None:
                continue
            heads = [node.iter for node in listing.around(statement) if isinstance(node, (ast.For, ast.AsyncFor))]
            nodes = [node for part in (*heads, *read_parts(statement)) for node in ast.walk(part)]
            picked = [node for node in nodes if isinstance(node, ast.Subscript) and names(node.value, name)]
            if any(before_last_step(path_text(node) or "")[1] in keys for node in picked):
                return True
            below = {id(node.value) for node in picked}
            if any(names(node, name) and id(node) not in below for node in nodes):
                return True
    return False


def slots_of(story: Story, tensor: int) -> dict[str, list[str]]:
    """The slots that hold a tensor, or an object around it, by the list or dict: ``log["lr"]`` may have one at
    ``log["lr"][0]`` and ``log["lr"][3]``, and `clouds` at ``clouds[0].pos`` and ``clouds[1].pos``."""
    found: dict[tuple[str, str], list[str]] = {}
    for name in story.names.get(tensor, ()):
        for entry in entries_in(name):
            found.setdefault(entry, []).append(name)
    return {container: slots for (container, _below), slots in found.items() if container}


def two_slots_of(story: Story, tensor: int, container: str) -> tuple[str, str] | None:
    """Two slots of a list or dict that hold a tensor at the end of the watch."""
    names = slots_of(story, tensor).get(container, ())
    return (f"`{names[0]}`", f"`{names[1]}`") if len(names) > 1 else None


def _is_filled(story: Story, container: str, tensor: int) -> bool:
    """Whether one slot was filled after another, as a statement says or as was seen."""
    return _fills(story, container, tensor) or _filled_between_writes(story, tensor, container)


def _fills(story: Story, container: str, tensor: int) -> bool:
    """Whether a statement in a loop, or in a function, stores into the container, so that each of its runs stores
    anew: ``curve.append(total)``, ``snapshots[epoch] = centroids``."""
    root = container.partition("[")[0]
    last = root.rpartition(".")[2]
    for alias in story.trace.aliases:
        owner = alias.target.partition("[")[0].rpartition(".")[2]
        if "[" not in alias.target or not (
            owner == last
            or _is_given_by(story, root, owner, alias)
            or _is_given_by_the_run(story, root, owner, alias, tensor)
        ):
            continue
        listing = whole_listing(story.trace, alias)
        if listing is not None:
            statement = listing.statement_on(alias.line)
            if statement is not None and runs_again(listing, statement):
                return True
    return False


def _filled_between_writes(story: Story, tensor: int, container: str) -> bool:
    """Whether a list or dict was seen to hold a tensor in more slots at one write than at another: each of them was to
    keep what the tensor was just then, whatever the statement that stored it looks like."""
    seen: dict[tuple[int, int], dict[int, list[Holding]]] = {}
    for holding in story.holdings_of.get(tensor, ()):
        if holding.path.startswith(f"{container}[") and story.calls[holding.call].mutations:
            at = seen.setdefault((holding.object, holding.level), {})
            at.setdefault(holding.call, []).append(holding)
    return any(
        len(before) != len(after) and is_still_there(story, container, before[0], after[0])
        for at in seen.values()
        for before, after in pairwise(at.values())
    )


def _is_given_by(story: Story, container: str, owner: str, stores: AliasStatement) -> bool:
    """Whether the function of a statement returns what the statement fills, and the container was bound to a call of
    that function: ``history = record()``."""
    where = (stores.function, stores.cell, stores.file)
    returns = (a for a in story.trace.aliases if a.target == "return" and a.source == owner)
    if not any((a.function, a.cell, a.file) == where for a in returns):
        return False
    function = stores.function.rpartition(".")[2]
    return any(
        isinstance(node, ast.Assign)
        and any(path_text(target) == container for target in node.targets)
        and any(isinstance(part, ast.Call) and names(part.func, function) for part in ast.walk(node.value))
        for listing in texts(story.trace)
        for node in listing.nodes
    )


def _is_given_by_the_run(story: Story, container: str, owner: str, stores: AliasStatement, tensor: int) -> bool:
    """Whether the run of the function in which a tensor was written gave what its statement fills to a caller that put
    it into the container: ``kept = net(x)``, which runs a `forward`."""
    where = (stores.function, stores.cell, stores.file)
    returns = (a for a in story.trace.aliases if a.target == "return" and a.source == owner)
    if not any((a.function, a.cell, a.file) == where for a in returns):
        return False
    for call, _mutation in story.writes_to_tensor.get(tensor, ())[-1:]:
        for place in call.callsite.chain if call.callsite is not None else ():
            given = place.caller is not None and container in (place.caller.targets or ())
            if given and (place.function, place.cell, place.file) == where:
                return True
    return False


def runs_again(listing: Listing, statement: ast.stmt) -> bool:
    """Whether a statement stands in a function or in a loop."""
    return any(isinstance(node, (*LOOPS, *FUNCTIONS)) for node in listing.around(statement))


def _reads(story: Story, tensor: int, after: int, container: str) -> Iterator[CallEvent]:
    """The calls after another one, queries such as ``item()`` among them, that read a tensor by way of a container."""
    through: dict[Callsite | None, bool] = {}
    for call in story.given_to.get(tensor, ()):
        if call.index <= after:
            continue
        site = call.callsite
        if site not in through:
            through[site] = reads_through(story, site, container) or _reads_what_was_taken(story, site, container)
        if through[site]:
            yield call


def reads_through(story: Story, site: Callsite | None, container: str) -> bool:
    """True if a place or one of its callers says a container's name: in its statement, or in the head of a loop around
    it."""
    last = container.partition("[")[0].rpartition(".")[2]
    while site is not None:
        listing = listing_of(story.trace, site)
        statement = listing.statement_at(site) if listing is not None else None
        if listing is not None and statement is not None:
            heads = (node.iter for node in listing.around(statement) if isinstance(node, (ast.For, ast.AsyncFor)))
            parts = [*heads, *read_parts(statement)]
            if any(names(node, last) for part in parts for node in ast.walk(part)):
                return True
        site = site.caller
    return False


def _reads_what_was_taken(story: Story, site: Callsite | None, container: str) -> bool:
    """Whether a place says a name that its function gave to something taken from a container:
    ``drawn = random.sample(self.buffer, 8)``, then ``for state, action in drawn``. How many there are is none of it."""
    last = container.partition("[")[0].rpartition(".")[2]
    listing = listing_of(story.trace, site) if site is not None else None
    statement = listing.statement_at(site) if listing is not None and site is not None else None
    if listing is None or statement is None:
        return False
    around = list(listing.around(statement))
    heads = [node.iter for node in around if isinstance(node, (ast.For, ast.AsyncFor))]
    said = set().union(*(variables_read(part) for part in (*heads, *read_parts(statement))))
    function = next((node for node in around if isinstance(node, FUNCTIONS)), None)
    return any(
        isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id in said for target in node.targets)
        and any(names(part, last) and not _is_counted(listing, part) for part in ast.walk(node.value))
        for node in (ast.walk(function) if function is not None else ())
    )


def _is_counted(listing: Listing, node: ast.AST) -> bool:
    """Whether only the length of something is asked."""
    above = listing.parents.get(node)
    return isinstance(above, ast.Call) and names(above.func, "len")


def read_parts(statement: ast.stmt) -> list[ast.AST]:
    """Of a statement what it reads: of ``curve.append(x)`` only `x`, of ``kept[k] = x`` only `x`."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        stores = isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "insert", "extend", "appendleft")
        return [*call.args, *call.keywords] if stores else [call]
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        return [statement.value]
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With)):
        return []
    return [statement]


def names(node: ast.AST, name: str) -> bool:
    """Whether a node is a variable or an attribute of that name."""
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)
