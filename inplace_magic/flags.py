"""The flags behind the magics, the command line and the pytest plugin: one table, by the field that each sets.

``--level ops`` means the same in ``%%inplace_watch --level ops``, in ``python -m inplace_magic --level ops train.py``
and in ``pytest --inplace-watch=ops``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from inplace_magic.language import AUTO, LANGUAGES, _
from inplace_magic.record.options import LEVELS, SAVE_SUFFIXES, SECTIONS, DeliverOptions, ShowOptions, WatchOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of one watch: what to record, how to show it, where to save it."""

    watch: WatchOptions
    show: ShowOptions
    deliver: DeliverOptions

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """Return the option records with these fields; missing fields have their defaults.

        Raises:
            OptionError: a value that an option cannot take.
        """
        return cls(**{name: _part(record, given) for name, record in OPTION_RECORDS.items()})


OPTION_RECORDS: dict[str, type[Any]] = {"watch": WatchOptions, "show": ShowOptions, "deliver": DeliverOptions}
"""The parts of :class:`Options`."""


def _part(record: type[Any], given: Mapping[str, Any]) -> Any:
    return record(**{each.name: given[each.name] for each in fields(record) if each.name in given})


def settings(field: str) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the flags that set a field, and their arguments for :meth:`argparse.ArgumentParser.add_argument`, in the
    current language.

    Args:
        field: of one of the :data:`OPTION_RECORDS`.
    """
    names, told = FLAGS[field]
    return names, {"dest": field, **told()}


def add(parser: Any, *names: str) -> None:
    """Adds the flags of these fields to a parser, or to a group of one."""
    for name in names:
        flags, told = settings(name)
        parser.add_argument(*flags, **told)


def _sections(text: str) -> tuple[str, ...] | None:
    return None if text == AUTO else tuple(text.split(","))


FLAGS: dict[str, tuple[tuple[str, ...], Callable[[], dict[str, Any]]]] = {
    "out": (("-o", "--out"), lambda: {"metavar": "NAME", "help": _("bind the report to this variable")}),
    "level": (
        ("--level",),
        lambda: {
            "metavar": "{" + ",".join(LEVELS) + "}",
            "help": _(
                "calls (default): every torch call; ops: also every aten op under it and in backward, at a higher "
                "cost; writes: only who wrote which memory, to name the writer when a backward fails"
            ),
        },
    ),
    "raw": (("--raw",), lambda: {"action": "store_true", "help": _("show id and data_ptr in the picture too")}),
    "graph": (("--no-graph",), lambda: {"action": "store_false", "help": _("leave the autograd graph out")}),
    "opened": (
        ("--open",),
        lambda: {
            "metavar": "SECTION[,…]",
            "type": _sections,
            "help": _(
                "sections that are open at first: {sections}, all or none (default: what suits the report)"
            ).format(sections=", ".join(SECTIONS)),
        },
    ),
    "widget": (
        ("--widget",),
        lambda: {
            "metavar": "NAME",
            "nargs": "?",
            "const": "",
            "help": _("show a live widget too; NAME is a variable to bind it to, or a widget to add the report to"),
        },
    ),
    "save": (
        ("--save",),
        lambda: {
            "metavar": "FILE",
            "help": _("write the report to a file; its ending picks the format: {endings}").format(
                endings=", ".join(SAVE_SUFFIXES)
            ),
        },
    ),
    "prove": (
        ("--prove",),
        lambda: {
            "action": "store_true",
            "help": _("try the fixes on copies, and say for each if the gradients are right"),
        },
    ),
    "check_values": (
        ("--check-values",),
        lambda: {
            "action": "store_true",
            "help": _("compare the content of all saved tensors, however large, at every backward"),
        },
    ),
    "full": (
        ("--full",),
        lambda: {
            "action": "store_true",
            "help": _("record each call in full, even if more than 64 in a row are the same write"),
        },
    ),
    "max_events": (
        ("--max-events",),
        lambda: {
            "metavar": "N",
            "type": int,
            "help": _("record at most this many calls; of older ones, what findings need (default: {count})").format(
                count=WatchOptions().max_events
            ),
        },
    ),
    "lang": (
        ("--lang",),
        lambda: {
            "metavar": "{" + ",".join((*LANGUAGES, AUTO)) + "}",
            "help": _("language of the report (default: that of `%%inplace_config`)"),
        },
    ),
}
"""Field -> its flags, and their arguments for a parser."""
