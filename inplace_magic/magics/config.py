"""``%inplace_config``: settings of the session, for every watch that does not say otherwise."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Protocol

from IPython.core.error import UsageError

from inplace_magic.errors import OptionError
from inplace_magic.language import AUTO, LANGUAGES, _, language, set_language
from inplace_magic.magics.options import Parser, parse_line
from inplace_magic.record.options import LEVELS, WatchOptions

MAGIC = "%inplace_config"


class Host(Protocol):
    """What this needs of the extension: the options of watches to come."""

    defaults: dict[str, str]


def config_parser() -> Parser:
    """The options of the magic; none means: say how it is set."""
    parser = Parser(
        MAGIC,
        description=_("Settings of this session; without options, say what they are."),
        argument_default=argparse.SUPPRESS,
    )
    add = parser.options.add_argument
    add("--lang", metavar="{" + ",".join((*LANGUAGES, AUTO)) + "}", help=_("language of reports and messages"))
    add("--level", metavar="{" + ",".join(LEVELS) + "}", help=_("level of the watches to come"))
    parser.add_help_option()
    return parser


def config_magic(host: Host) -> Callable[[str], None]:
    """The line magic ``%inplace_config``."""

    def inplace_config(line: str) -> None:
        given = vars(parse_line(config_parser(), line))
        if given.get("help"):
            print(config_parser().format_help())
            return
        try:
            chosen = WatchOptions(**given)
        except OptionError as error:
            raise UsageError(f"{MAGIC}: {error}") from None
        if "level" in given:
            host.defaults["level"] = chosen.level
        if chosen.lang is not None:
            set_language(chosen.lang)
        if not given:
            level = host.defaults.get("level", WatchOptions().level)
            print(_("language {language}, level {level}").format(language=language(), level=level))

    inplace_config.__doc__ = config_parser().format_help()
    return inplace_config
