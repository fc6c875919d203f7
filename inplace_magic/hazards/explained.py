"""The finding of an error that no rule is about, with the cause that was read from what the error left.

``loss.backward()`` on a tensor without a graph, ``torch.add(a, b, out=c)`` where `c` requires grad: PyTorch refuses
them for what a text says, and not for what a call did. An unwatched failure gets the same answer.
"""

from __future__ import annotations

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Badges, Hazard
from inplace_magic.hazards.fixes.history import with_its_history
from inplace_magic.hazards.fixes.new_tensor import bound_anew
from inplace_magic.hazards.rule import Cures
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent

CURES = {"out-with-gradient": Cures(ways=(bound_anew,)), "loss-without-graph": Cures(ways=(with_its_history,))}
"""By code: what gives a diff besides the sentence."""


_BY_THE_WATCH = "the raw Tensor object is already associated to a python object"


def of_the_error(story: Story) -> Hazard | None:
    """Return the finding of the error that ended the block; None where its cause is not known."""
    answer, error = story.trace.answer, story.trace.error
    if error is not None and story.trace.level == "ops" and _BY_THE_WATCH in error:
        return _by_the_watch()
    if answer is None or error is None or answer.place is None:  # without a line its sentence says nothing here
        return None
    call = next((call for call in reversed(story.trace.calls) if call.error == error), None)
    here = call.callsite if call is not None else answer.place
    site = answer.mutation
    if site is None or (here is not None and here.same_line(site)):
        site = here
    return Hazard(
        code=answer.code,
        severity="error",
        message=answer.message,
        fix=answer.fix or "",
        variable=answer.variable,
        mutation=site,
        tensor=_named(story, call, answer.variable) if call is not None else None,
        call=call.index if call is not None and site is here else None,
        raised=True,
        badges=Badges(wrote=_("refused here") if site is here else _("this is why")),
    )


def _named(story: Story, call: CallEvent, name: str | None) -> int | None:
    """Return the tensor of a name among what a call got."""
    held = [meta.tensor for meta in call.inputs if name is not None and story.bindings.name(meta.tensor) == name]
    return held[-1] if held else None


def _by_the_watch() -> Hazard:
    return Hazard(
        code="raised-by-the-watch",
        severity="error",
        message=_(
            "This watch made the code raise: unwatched it would have gone on. At level `ops` a dispatch mode is on, "
            "and under any such mode PyTorch refuses to make an object of a tensor's subclass from a tensor, as in "
            "`Noise(torch.randn(3))`."
        ),
        fix=_("Watch it at level `calls`, which makes no difference here."),
        raised=True,
    )
