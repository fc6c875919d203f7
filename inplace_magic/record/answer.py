"""The answer to an unwatched failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from inplace_magic.record import codec
from inplace_magic.record.places import Callsite


@dataclass(frozen=True)
class Answer:
    """The cause of an error, read from what the failure left: traceback, live graph, names and source text."""

    code: str
    """Stable code of the kind of error, equal to that of a watch's finding, if any."""
    message: str
    """The cause in whole sentences, in the session's language."""
    error: str = ""
    """Type and first line of the exception."""
    place: Callsite | None = None
    """The user's line that raised."""
    candidates: tuple[Callsite, ...] = ()
    """Lines that can have caused it, likeliest first."""
    certain: bool = False
    """True if the facts leave exactly one candidate."""
    saved: Callsite | None = None
    """The line that saved the overwritten tensor for backward."""
    saved_by: str | None = None
    """The autograd node that saved it, for example ``"SigmoidBackward0"``."""
    expected_version: int | None = None
    found_version: int | None = None
    variable: str | None = None
    """A name that leads to the tensor in the user's code."""
    fix: str | None = None
    """One sentence on what to change; never shown as tried."""
    framework: Literal["torch", "paddle"] = "torch"
    """Framework of the error."""
    limits: tuple[str, ...] = ()
    """Limits that were reached, as sentences."""

    @property
    def mutation(self) -> Callsite | None:
        """The line that caused the error, if it is certain."""
        return self.candidates[0] if self.certain and self.candidates else None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON's plain types."""
        return {**codec.to_plain(self), "mutation": codec.to_plain(self.mutation)}

    def __str__(self) -> str:
        from inplace_magic.render.answer import text_of

        return text_of(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from inplace_magic.render.answer import to_mimebundle

        return to_mimebundle(self)
