"""A gradient was edited in place while backward ran, and a sibling branch got the same buffer.

The backward of ``a + b`` hands one gradient tensor to both branches. A hook, or a ``Function.backward``, that writes
its argument therefore changes the other branch's gradient as well, or not, depending on the order. "The hook should
not modify its argument, but it can optionally return a new gradient"
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html); the same holds for
``Function.backward`` (https://docs.pytorch.org/docs/stable/notes/extending.html).

Bad::

    left.register_hook(lambda grad: grad.mul_(0.1))
    (left + right).square().sum().backward()  # right's gradient may be scaled too

Good::

    left.register_hook(lambda grad: grad * 0.1)

Told from the record alone: code that ran inside a backward wrote a tensor that nothing recorded had made, and by the
graph one node hands that gradient to a sibling branch, too. Silent where no sibling receives the same gradient.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.new_tensor import value_given
from inplace_magic.hazards.fixes.return_new import new_gradient
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.paths import is_gradient
from inplace_magic.record.places import Callsite

CODE = "shared-gradient-edited"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place in a hook or ``backward`` that wrote a gradient which a sibling shares."""
    seen = set()
    sharing: dict[int, set[int]] = {}
    for call in story.nested if story.in_place else ():
        if call.parent is None or call.kind != "in-place" or call.callsite in seen or call.parent not in story.executed:
            continue
        for mutation in call.mutations:
            if not _came_from_the_engine(story, call, mutation):
                continue
            if call.parent not in sharing:
                sharing[call.parent] = _sharing(story, call.parent)
            if not sharing[call.parent].isdisjoint(_receivers(story, call)):
                seen.add(call.callsite)
                yield _hazard(story, call, mutation)
                break


def _came_from_the_engine(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """Whether the written tensor was handed to the user's code by backward: nothing recorded made it, and it was not
    seen before."""
    written = story.bindings.written_name(call, mutation.tensor) or ""
    if is_gradient(written):
        return False  # the accumulated gradient of a leaf belongs to the leaf alone
    first = story.first_seen(mutation.tensor)
    backward = call.parent if call.parent is not None else -1
    return first > backward and story.innermost_new(mutation.tensor, call.index) is None


def _receivers(story: Story, call: CallEvent) -> frozenset[int]:
    """The nodes whose gradient the writing code was given: of a custom ``Function``'s ``backward``, of the tensors
    that have a hook, of the modules that have a backward hook."""
    site: Callsite | None = call.callsite
    while site is not None:
        owner, _, method = site.function.rpartition(".")
        if method == "backward":
            return story.nodes_of_functions.get(owner.rpartition(".")[2], frozenset())
        site = site.caller
    return story.hooked_nodes | {node.node for node in story.trace.nodes if node.does("runs a module's hook")}


def _sharing(story: Story, backward: int) -> set[int]:
    """The nodes that a backward may have given the same gradient as a sibling."""
    found: set[int] = set()
    for user in story.executed[backward]:
        if story.nodes[user].does("passes gradient on"):
            following = {behind for behind in story.nodes[user].next if behind is not None}
            found |= following if len(following) > 1 else set()
    return found


def _hazard(story: Story, call: CallEvent, mutation: Mutation) -> Hazard:
    variable = story.bindings.written_name(call, mutation.tensor)
    what = f"`{variable}`" if variable else _("a gradient")
    return finding(
        CODE,
        "silent",
        message=_(
            "{line} edits {tensor} in place while backward runs. An addition hands the same gradient buffer to both of "
            "its branches, so the other branch's gradient changes too. PyTorch gives no error; a hook or `backward` "
            "must not modify its argument."
        ).format(line=wording.spot(call.callsite), tensor=what),
        fix=_("Return a new gradient instead: the out-of-place form of {line}.").format(
            line=wording.line_of(call.callsite)
        ),
        variable=variable,
        tensor=mutation.tensor,
        write=call,
    )


RULE = Rule(check, {CODE: Cures((value_given, new_gradient))})
