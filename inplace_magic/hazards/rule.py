"""What a rule is: a check of a story, and for each code of its findings how they are cured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.target import Fix, Written

Way = Callable[[Written], Fix | None]
"""A change of the user's lines; None where it is not certain that it cures."""
Advice = Callable[[Story, Hazard], str]
"""A sentence on what to do; empty where it has none."""


@dataclass(frozen=True)
class Cures:
    """How the findings of one code are cured."""

    ways: tuple[Way, ...] = ()
    """In the order in which they are tried; the first that is certain wins."""
    advice: tuple[Advice, ...] = ()
    """Asked in this order where no way is certain, before the finding's own sentence is taken."""
    another_name_sees_it: bool = False
    """The finding is that another name sees the write, and so shall not be bound to the new tensor as well."""


@dataclass(frozen=True)
class Rule:
    """One rule."""

    check: Callable[[Story], Iterable[Hazard]]
    cures: Mapping[str, Cures] = field(default_factory=dict)
    """By code; codes that are missing have the finding's own sentence alone."""
    gives_way: bool = False
    """Its findings are left out where another rule blames the same place, or one in the same run of a function."""

    @property
    def name(self) -> str:
        """``alias-written``, by its module."""
        return self.check.__module__.rpartition(".")[2].replace("_", "-")
