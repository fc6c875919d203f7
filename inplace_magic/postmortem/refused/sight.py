"""What is known at an expression of the text: the statements before it, and the names that still mean what they did."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from inplace_magic.postmortem.reading import MISSING
from inplace_magic.postmortem.refused.history import Bound, History, Step, bindings_in
from inplace_magic.postmortem.refused.values import value_of
from inplace_magic.source.expressions import path_text


@dataclass(frozen=True, eq=False)
class Sight:
    """What can be seen from a place in a text."""

    steps: tuple[Step, ...]
    scopes: tuple[Mapping[str, object], ...]
    frame: int | None
    step: Step | None = None
    """The statement that holds it; None for the failing line itself."""

    def at(self, step: Step) -> Sight:
        return replace(self, step=step)

    def before(self, path: str) -> Iterator[Bound]:
        """Return the statements that gave a name its value before this one, the latest first."""
        return bindings_in(self.steps[self._from :], path, self.frame)

    def value(self, node: ast.expr) -> object:
        """What an expression stands for; unknown where a name of it was given another value since."""
        path = path_text(node)
        since = self.steps[: self._from]
        if path is not None and any(name == path for step in since for name, _, _ in step.bound):
            return MISSING
        return value_of(node, self.scopes)

    @property
    def _from(self) -> int:
        if self.step is None:
            return 0
        return next((at + 1 for at, step in enumerate(self.steps) if step is self.step), 0)


def sight_in(history: History, frame: int, step: Step | None = None) -> Sight:
    """Return what can be seen in a frame that is alive, from the line at which it stands or from a statement above."""
    return Sight(tuple(history.steps(frame)), tuple(history.scopes(frame)), frame, step)
