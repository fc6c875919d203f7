"""What a rule is: a check of a story, and for each code of its findings how they are cured.

The ways to a diff are tried in their order, and the first that is certain, and holds on paper, wins. Certain means:
told from the syntax of the user's lines and from the trace, and the patched program means what the program meant
before, save for the overwritten values. Where no way is certain there is no diff, and a sentence must do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard, Severity
from inplace_magic.hazards.fixes.target import Fix, Written, leaves_a_write, said_of, written
from inplace_magic.source.hunks import diff

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

    def applied(self, story: Story, hazard: Hazard) -> Hazard:
        """Return the finding with its diff and the price of it; with advice where no fix can be derived."""
        write = written(story, hazard, another_name_sees_it=self.another_name_sees_it) if self.ways else None
        fixes = (way(write) for way in self.ways) if write is not None else iter(())
        for fix in fixes:
            if write is not None and fix is not None and not leaves_a_write(write, fix):
                text = diff(fix.site, fix.listing, fix.edits)
                said = fix.sentence or said_of(text) or hazard.fix
                return replace(hazard, diff=text, price_bytes=fix.price_bytes, fix=said)
        said = next((text for advice in self.advice if (text := advice(story, hazard))), hazard.fix)
        return replace(hazard, fix=said)


@dataclass(frozen=True)
class Rule:
    """One rule."""

    check: Callable[[Story], Iterable[Hazard]]
    """Yields what it finds, as often as it meets it; what is shown of that, `shown` alone decides."""
    cures: Mapping[str, Cures] = field(default_factory=dict)
    """By code; codes that are missing have the finding's own sentence alone."""
    gives_way: bool = False
    """Low priority: `shown` drops its findings where another rule blames the same line or run of a function."""
    code: str = ""
    """The code of its findings, where one module has several rules. Its page has the code as heading then, else
    the module."""
    severity: Severity = "silent"
    """Of most of its findings, for its page; read where `code` is given."""
    every_call: bool = False
    """True if it rests on something not having happened. Where calls were forgotten it may have, or within a replay of
    a CUDA graph, so it is silent."""

    search: Callable[[Story], object] | None = None
    """What it finds by, where that is not its check: a search of its first row."""

    @property
    def module(self) -> str:
        """Where it stands, in full."""
        check = self.search or self.check
        return (check.func if isinstance(check, partial) else check).__module__

    @property
    def name(self) -> str:
        """``alias-written``, by its code or its module."""
        return self.code or self.module.rpartition(".")[2].replace("_", "-")


def rule_of(
    code: str, severity: Severity, check: Callable[[Story], Iterable[Hazard]], *ways: Way, gives_way: bool = False
) -> Rule:
    """Return the rule of one code of a mechanism.

    Args:
        code: of its findings, and the heading of its page.
        severity: of most of them.
        check: yields them.
        ways: how they are cured.
        gives_way: see `Rule`.
    """
    return Rule(check, {code: Cures(ways)}, gives_way=gives_way, code=code, severity=severity)
