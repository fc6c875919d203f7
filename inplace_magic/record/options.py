"""The options in three frozen records: what a watch records, how its report is shown, where it goes.

The flags of the magic mirror all three; ``watch()`` takes those that apply to a script.
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass

from inplace_magic.errors import OptionError
from inplace_magic.language import _, checked

LEVELS = ("calls", "ops", "writes")
SECTIONS = ("graph", "memory", "lines", "timeline", "tensors", "saved", "names", "unseen")
"""Foldable sections of a page, in their order."""
SAVE_SUFFIXES = (".html", ".svg", ".png", ".dot", ".json", ".csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """What one watch records, and the language of its findings.

    Raises:
        OptionError: an invalid value; the text lists the valid ones.
    """

    level: str = "calls"
    """``calls`` records every torch call; ``ops`` also every aten op under it, at a higher cost; ``writes`` only the
    writes of each memory, to name the writer when a backward fails, cheap enough for a run of hours."""
    check_values: bool = False
    """Compare the content of all saved tensors, however large, at every backward."""
    full: bool = False
    """Record each call in full. By default, of more than 64 equal calls in a row (one function, at one place, that
    writes one tensor, with nothing in between) only the first 64 and the number of the others are recorded."""
    max_events: int = 100_000
    """Most calls in a record; older ones are discarded, except each line's first and all that a backward may need. At
    level ``writes``, the number of newest writes."""
    lang: str | None = None
    """Language of the report, ``en``, ``zh`` or ``auto``; None: that of the session."""
    max_values: int = 64
    """Largest tensor, in elements, whose values before and after a write are recorded (CPU only)."""

    def __post_init__(self) -> None:
        if self.lang is not None:
            checked(self.lang)
        if self.level not in LEVELS:
            text = _("level {name!r} does not exist; choose one of {choices}.")
            raise OptionError(text.format(name=self.level, choices=", ".join(LEVELS)))
        if self.max_events < 2:
            raise OptionError(_("max_events is {count}; it must be at least 2.").format(count=self.max_events))
        if self.max_values < 0:
            raise OptionError(_("max_values is {count}; it cannot be negative.").format(count=self.max_values))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """How a report is shown, on a page and in a file.

    Raises:
        OptionError: an unknown section.
    """

    raw: bool = False
    """Show raw ``id`` and ``data_ptr`` in the picture too, not only in the tensors table."""
    graph: bool = True
    """Draw the autograd graph."""
    opened: tuple[str, ...] | None = None
    """Sections that are open at first, from :data:`SECTIONS`, or ``all`` or ``none``; None: by the report."""

    def __post_init__(self) -> None:
        for name in self.opened or ():
            if name not in (*SECTIONS, "all", "none"):
                text = _("--open {name!r} is no section of a report; there are {choices}.")
                raise OptionError(text.format(name=name, choices=", ".join((*SECTIONS, "all", "none"))))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverOptions:
    """Where a report goes besides the screen.

    Raises:
        OptionError: an invalid name, or a file of no known format.
    """

    out: str | None = None
    """Name to bind the report to in the namespace of a shell."""
    widget: str | None = None
    """Show the live widget too, below the report. The name of a variable to bind it to; if that holds a widget already,
    the report is added to it. Empty for a widget without a name."""
    save: str | None = None
    """File to write the report to; the suffix picks the format."""
    prove: bool = False
    """Try the fixes on copies, from the variables' values before the cell ran."""

    def __post_init__(self) -> None:
        if self.out is not None and not _is_variable(self.out):
            text = _("--out {name!r} is not a variable name; give one such as `report`.")
            raise OptionError(text.format(name=self.out))
        if self.widget and not _is_variable(self.widget):
            sentence = _("--widget {name!r} is not a variable name; give one such as `view`, or none.")
            raise OptionError(sentence.format(name=self.widget))
        if self.save is not None and not str(self.save).lower().endswith(SAVE_SUFFIXES):
            sentence = _("{name!r} is no file to save a report to: its name must end in {endings}.")
            raise OptionError(sentence.format(name=self.save, endings=", ".join(SAVE_SUFFIXES)))


def _is_variable(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)
