"""A new tensor was bound to the variable of a loop, and nobody read it: what the loop goes through stays as it was.

``for p in parameters: p = q`` gives a name to another object. It writes nothing, neither into the tensor that the name
had before nor into the list (https://docs.python.org/3/reference/simple_stmts.html#assignment-statements).

Bad::

    for p, average in zip(model.parameters(), averages):
        p = average.detach()        # the model is as before

Good::

    with torch.no_grad():
        for p, average in zip(model.parameters(), averages):
            p.copy_(average)

Told from the record and the text of the loop: a statement in a ``for`` loop binds the loop's own variable to the result
of a call, no line below reads the variable, and no call was ever given a result of that line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source.listing import whole_listing
from inplace_magic.source.variables import mentions

CODE = "rebound-lost"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each such statement."""
    by_site: dict[Callsite, list[CallEvent]] = {}
    names = {key: name for key, site in story.sites.items() if (name := _name_bound(site)) is not None}
    for call in story.at(names):
        if call.callsite is not None and len(call.outputs) == 1 and not call.mutations:
            by_site.setdefault(call.callsite, []).append(call)
    for site, calls in by_site.items():
        name = names[id(site)]
        unread = all(not story.given_to.get(call.outputs[0].tensor) for call in calls)
        if unread and _is_the_loops(story, site, name):
            yield _hazard(story, calls[0], name)


def _name_bound(site: Callsite) -> str | None:
    """The name that a line of the user's own gives its value."""
    targets = site.bound if site.direct else None
    name = targets[0] if targets is not None and len(targets) == 1 else None
    return name if name is not None and name.isidentifier() else None


def _is_the_loops(story: Story, site: Callsite, name: str) -> bool:
    """Whether the innermost loop around a line binds the name, and nothing below the line in it, or behind it, reads
    it."""
    listing = whole_listing(story.trace, site)
    statement = listing.statement_at(site) if listing is not None else None
    if listing is None or statement is None:
        return False
    loop = next((node for node in listing.around(statement) if isinstance(node, (ast.For, ast.While))), None)
    if not isinstance(loop, ast.For):
        return False
    scope = listing.scope_of(statement)
    loads = (node for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    end = statement.end_lineno or statement.lineno
    return mentions(loop.target, name) and all(node.id != name or node.lineno <= end for node in loads)


def _hazard(story: Story, call: CallEvent, name: str) -> Hazard:
    site = call.callsite
    return finding(
        CODE,
        "silent",
        message=_(
            "{line} binds `{name}`, the loop's variable, to another tensor, and nobody reads it: an assignment to a "
            "name writes nothing, so what the loop goes through keeps its values. PyTorch gives no error."
        ).format(line=wording.spot(site), name=name),
        fix=_(
            "Write into the tensor (`{name}.copy_(…)` under `torch.no_grad()`), or store the new one where the loop "
            "takes its tensors from."
        ).format(name=name),
        variable=name,
        tensor=call.outputs[0].tensor,
        write=call,
        badges=Badges(wrote=_("bound anew here")),
    )


RULE = Rule(check)
