"""What a person can ask for, in three frozen records: what a watch records, how its report is shown, where it goes.

The flags of the magic mirror all three; ``watch()`` takes those that mean something in a script.
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass

from inplace_magic.errors import OptionError
from inplace_magic.language import _, checked

LEVELS = ("calls", "ops", "writes")
SECTIONS = ("graph", "memory", "lines", "timeline", "tensors", "saved", "names", "unseen")
"""Parts of a page that fold, in their order."""
SAVE_SUFFIXES = (".html", ".svg", ".png", ".dot", ".json", ".csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """What one watch records, and in which language its findings are told.

    Raises:
        OptionError: a value that the option cannot take; the text says which it can.
    """

    level: str = "calls"
    """``calls`` sees every torch call; ``ops`` also every aten op under it, at a higher cost; ``writes`` only who wrote
    which memory, to name the writer when a backward fails, cheap enough for a run of hours."""
    check_values: bool = False
    """Compare the content of all saved tensors, however large, at every backward."""
    full: bool = False
    """Record each call in full. Else of more than 64 calls in a row that are the same (one function, at one place, that
    writes one tensor, with nothing in between) only the first 64 are, and how many the others were."""
    max_events: int = 100_000
    """Calls kept at most; beyond it older ones are forgotten, except each line's first and what a backward may need. At
    level ``writes`` the newest writes that are kept."""
    lang: str | None = None
    """Language of the report, ``en``, ``zh`` or ``auto``; None: that of the session."""
    max_values: int = 64
    """Largest number of elements for which the values before and after a write are kept (CPU tensors)."""

    def __post_init__(self) -> None:
        if self.lang is not None:
            checked(self.lang)
        if self.level not in LEVELS:
            raise OptionError(
                _("level {name!r} does not exist; choose one of {choices}.").format(
                    name=self.level, choices=", ".join(LEVELS)
                )
            )
        if self.max_events < 2:
            raise OptionError(_("max_events is {count}; it must be at least 2.").format(count=self.max_events))
        if self.max_values < 0:
            raise OptionError(_("max_values is {count}; it cannot be negative.").format(count=self.max_values))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """How a report is shown, on a page and in a file alike.

    Raises:
        OptionError: a section that does not exist.
    """

    raw: bool = False
    """Show raw ``id`` and ``data_ptr`` in the picture too, not only in the tensors table."""
    graph: bool = True
    """Draw the autograd graph."""
    opened: tuple[str, ...] | None = None
    """Sections that are open at first, of :data:`SECTIONS`, or ``all`` or ``none``; None: what suits the report."""

    def __post_init__(self) -> None:
        for name in self.opened or ():
            if name not in (*SECTIONS, "all", "none"):
                raise OptionError(
                    _("--open {name!r} is no section of a report; there are {choices}.").format(
                        name=name, choices=", ".join((*SECTIONS, "all", "none"))
                    )
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverOptions:
    """Where a report goes, besides the screen.

    Raises:
        OptionError: a name that is none, or a file that no format is written to.
    """

    out: str | None = None
    """Name to bind the report to in the namespace of a shell."""
    widget: str | None = None
    """Show the live widget too, below the report. The name of a variable to bind it to or, where that holds such a
    widget already, to find it by and add the report; empty for a widget without a name."""
    save: str | None = None
    """File to write the report to; the suffix picks the format."""
    prove: bool = False
    """Try the fixes of the findings on copies, from what the variables held before the cell ran."""

    def __post_init__(self) -> None:
        if self.out is not None and not _is_variable(self.out):
            raise OptionError(
                _("--out {name!r} is not a variable name; give one such as `report`.").format(name=self.out)
            )
        if self.widget and not _is_variable(self.widget):
            raise OptionError(
                _("--widget {name!r} is not a variable name; give one such as `view`, or none.").format(
                    name=self.widget
                )
            )
        if self.save is not None and not str(self.save).lower().endswith(SAVE_SUFFIXES):
            raise OptionError(
                _("{name!r} is no file to save a report to: its name must end in {endings}.").format(
                    name=self.save, endings=", ".join(SAVE_SUFFIXES)
                )
            )


def _is_variable(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)
