"""The flags behind the magics, the command line and the pytest plugin: one table, by the field that each sets.

``--level ops`` means the same in ``%%inplace_watch --level ops``, in ``python -m inplace_magic --level ops train.py``
and in ``pytest --inplace-watch=ops``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from inplace_magic.language import AUTO, LANGUAGES, N_, _
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
        return cls(
            **{
                name: record(**{each.name: given[each.name] for each in fields(record) if each.name in given})
                for name, record in OPTION_RECORDS.items()
            }
        )


OPTION_RECORDS: dict[str, type[Any]] = {"watch": WatchOptions, "show": ShowOptions, "deliver": DeliverOptions}
"""The parts of :class:`Options`."""


def settings(name: str) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the flags that set a field of one of the :data:`OPTION_RECORDS`, and their arguments for
    :meth:`argparse.ArgumentParser.add_argument`, in the current language."""
    names, told, more = FLAGS[name]
    return tuple(names.split()), {"dest": name, "help": _(told).format(**_LISTED), **more}


def add(parser: Any, *names: str) -> None:
    """Adds the flags of these fields to a parser, or to a group of one."""
    for name in names:
        flags, told = settings(name)
        parser.add_argument(*flags, **told)


def one_of(*words: str) -> str:
    """``{en,zh}``, as a help shows the words that an option takes."""
    return "{" + ",".join(words) + "}"


def _sections(text: str) -> tuple[str, ...] | None:
    return None if text == AUTO else tuple(text.split(","))


_LISTED = {"sections": ", ".join(SECTIONS), "endings": ", ".join(SAVE_SUFFIXES), "count": WatchOptions().max_events}
_ON = {"action": "store_true"}

FLAGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "out": ("-o --out", N_("bind the report to this variable"), {"metavar": "NAME"}),
    "level": (
        "--level",
        N_(
            "calls (default): every torch call; ops: also every aten op under it and in backward, at a higher "
            "cost; writes: only who wrote which memory, to name the writer when a backward fails"
        ),
        {"metavar": one_of(*LEVELS)},
    ),
    "raw": ("--raw", N_("show id and data_ptr in the picture too"), _ON),
    "graph": ("--no-graph", N_("leave the autograd graph out"), {"action": "store_false"}),
    "opened": (
        "--open",
        N_("sections that are open at first: {sections}, all or none (default: what suits the report)"),
        {"metavar": "SECTION[,…]", "type": _sections},
    ),
    "widget": (
        "--widget",
        N_("show a live widget too; NAME is a variable to bind it to, or a widget to add the report to"),
        {"metavar": "NAME", "nargs": "?", "const": ""},
    ),
    "save": ("--save", N_("write the report to a file; its ending picks the format: {endings}"), {"metavar": "FILE"}),
    "prove": ("--prove", N_("try the fixes on copies, and say for each if the gradients are right"), _ON),
    "check_values": (
        "--check-values",
        N_("compare the content of all saved tensors, however large, at every backward"),
        _ON,
    ),
    "full": (
        "--full",
        N_("record each call in full, even if more than 64 in a row are the same write"),
        _ON,
    ),
    "max_events": (
        "--max-events",
        N_("record at most this many calls; of older ones, what findings need (default: {count})"),
        {"metavar": "N", "type": int},
    ),
    "lang": (
        "--lang",
        N_("language of the report (default: that of `%%inplace_config`)"),
        {"metavar": one_of(*LANGUAGES, AUTO)},
    ),
}
"""Field -> its flags, their help, which may have the :data:`_LISTED`, and further arguments for a parser."""
