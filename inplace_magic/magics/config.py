"""``%inplace_config``: settings of the session, for every watch that does not say otherwise."""

from __future__ import annotations

import argparse
from typing import Any

from inplace_magic import flags
from inplace_magic.flags import Options
from inplace_magic.language import AUTO, LANGUAGES, _, language, set_language
from inplace_magic.magics.options import Parser, magic_of
from inplace_magic.magics.session import Session
from inplace_magic.record.options import LEVELS

MAGIC = "%inplace_config"


def config_parser() -> Parser:
    """Return the options of the magic; none means: say how it is set."""
    parser = Parser(MAGIC, description=_("Change the settings of this session; without options, show them."))
    add = parser.options.add_argument
    add("--lang", metavar=flags.one_of(*LANGUAGES, AUTO), help=_("language of reports and messages"))
    add("--level", metavar=flags.one_of(*LEVELS), help=_("level of the watches to come"))
    flags.add(parser.options, "opened")
    add("--raw", action=argparse.BooleanOptionalAction, help=_("show id and data_ptr in the picture too"))
    add("--graph", action=argparse.BooleanOptionalAction, help=_("draw the autograd graph"))
    return parser.with_flags()


def _set_or_say(session: Session, given: dict[str, Any]) -> None:
    options = Options.of(given)
    if options.watch.lang is not None:
        set_language(options.watch.lang)
    session.defaults.update({name: value for name, value in given.items() if name != "lang"})
    if given:
        return
    set_so_far = Options.of(session.defaults)
    shown = set_so_far.show
    text = _("language {language}, level {level}, open {sections}, graph {graph}, raw {raw}").format(
        language=language(),
        level=set_so_far.watch.level,
        sections=AUTO if shown.opened is None else ",".join(shown.opened),
        graph=_("on") if shown.graph else _("off"),
        raw=_("on") if shown.raw else _("off"),
    )
    print(text)


config_magic = magic_of(config_parser, _set_or_say)
