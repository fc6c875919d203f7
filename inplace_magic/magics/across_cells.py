"""``%inplace_watch on`` / ``off`` / ``status``: every cell watched as one story, which is told in `cell_story.py`."""

from __future__ import annotations

import atexit
import difflib
from collections.abc import Callable

from IPython.core.error import UsageError

from inplace_magic.analysis.story import indexed_once
from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import N_, _, sentences
from inplace_magic.magics.cell_story import CellStory
from inplace_magic.magics.cell_transform import MAGIC
from inplace_magic.magics.cells import running_cell
from inplace_magic.magics.options import STORY_MAGIC, help_of, parse_options, watch_parser
from inplace_magic.magics.session import Session
from inplace_magic.render import load
from inplace_magic.watching.api import watch
from inplace_magic.watching.last import put_off

_VERBS = ("on", "off", "status")


def switch_on(host: Session, line: str) -> None:
    """Begins a story with the rest of the running cell.

    Raises:
        UsageError: an option that does not exist, or another watch is on.
    """
    options = parse_options(line, STORY_MAGIC, host.defaults)
    if host.story is not None:
        text = _("inplace_watch is on already, {figures}. `%inplace_watch off` ends it.")
        print(text.format(figures=host.story.figures()))
        return
    if host.active is not None:
        text = _("`{magic}` watches this cell; write `%inplace_watch on` into a cell of its own.")
        raise UsageError(text.format(magic=MAGIC))
    load()
    cell = running_cell(host.shell, host.running[0] if host.running else None)
    story = CellStory(host, options, watch(options.watch), f"Cell In[{cell}]")
    try:
        story.begin_cell()
    except InplaceMagicError as error:
        raise UsageError(str(error)) from None
    host.story = story
    put_off(story.catch_up)
    atexit.register(story.at_exit)
    sentence = _(
        "inplace_watch is on (level {level}): the rest of this cell and every later one is watched, and only what "
        "goes wrong is shown. `%inplace_watch off` ends it."
    )
    print(sentence.format(level=options.watch.level))


def switch_off(host: Session) -> None:
    """Ends the story and displays its report; without one, one line says so."""
    story, host.story = host.story, None
    if story is None:
        print(_(_OFF).format(magic=STORY_MAGIC))
        return
    put_off(None)
    atexit.unregister(story.at_exit)
    figures = story.figures()
    with indexed_once():
        report = story.end()
        print(_("inplace_watch is off. It was on {figures}.").format(figures=figures))
        if report is not None:
            told = story.news.all_of(report)
            host.deliver(report, story.options, told=told)


_OFF = N_("inplace_watch is off. `{magic}` watches every cell from there on.")


def _refusal(verb: str) -> str:
    """Return the sentences for what is neither on nor off."""
    near = difflib.get_close_matches(verb, _VERBS, n=1)
    if near:
        text = _("%inplace_watch takes on, off or status, not {verb!r}; did you mean {near}?")
    elif verb:
        text = _("%inplace_watch takes on, off or status, not {verb!r}.")
    else:
        text = _("%inplace_watch takes on, off or status.")
    one = _("To watch one cell, write %%inplace_watch, with two percent signs, on its first line.")
    return sentences(text.format(verb=verb, near=near[0] if near else ""), one)


def story_magic(host: Session) -> Callable[[str], None]:
    """The line magic ``%inplace_watch``."""

    def inplace_watch(line: str) -> None:
        verb, _space, rest = line.strip().partition(" ")
        if verb in ("-h", "--help") or (verb == "on" and {"-h", "--help"} & set(rest.split())):
            print(help_of(watch_parser, STORY_MAGIC))
        elif verb not in _VERBS:
            raise UsageError(_refusal(verb))
        elif verb == "on":
            switch_on(host, rest)
        elif rest.strip():
            text = _("%inplace_watch {verb} takes nothing more, not {found!r}.")
            raise UsageError(text.format(verb=verb, found=rest.strip()))
        elif verb == "off":
            switch_off(host)
        elif host.story is None:
            print(_(_OFF).format(magic=STORY_MAGIC))
        else:
            text = _("inplace_watch is on (level {level}), {figures}.")
            print(text.format(level=host.story.options.watch.level, figures=host.story.figures()))

    inplace_watch.__doc__ = help_of(watch_parser, STORY_MAGIC)
    return inplace_watch
