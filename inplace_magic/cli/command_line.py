"""``python -m inplace_magic [options] (program.py | -m module) args…``, and ``python -m inplace_magic report.json``.

Exit status, standard output and arguments are the program's; the watch prints to standard error.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from inplace_magic import flags
from inplace_magic.answering import hooks
from inplace_magic.capture.stepping_aside.late_imports import LateImports
from inplace_magic.cli import startup
from inplace_magic.cli.script import Script, run, script_of
from inplace_magic.errors import OptionError, ReportFormatError
from inplace_magic.flags import Options
from inplace_magic.language import _, checked, set_language
from inplace_magic.ranks.rank import Rank, this_rank
from inplace_magic.record.options import LEVELS
from inplace_magic.render.deliver import give, say, tell, write

OFF = "off"
"""The level that watches nothing: an unhandled error gets its answer, and the program runs as without us."""
TEXT = "text"
"""The format for people; those for programs are in :mod:`inplace_magic.render.machines`, which is not loaded here."""
MACHINES = ("json", "github", "sarif")
FRAMEWORKS = frozenset(("torch", "paddle"))
_USAGE = "python -m inplace_magic [options] (program.py | -m module | report.json) ..."


def main(given: list[str]) -> int:
    """Runs the command; gives the exit status, the program's own where it ran."""
    asked = _parser().parse_args(given)
    is_off = vars(asked).get("level") == OFF
    if is_off:
        del asked.level
    try:
        options = Options.of(vars(asked))
        if asked.format == TEXT and asked.output is not None:
            raise OptionError(_("--output goes with --format; --save writes the whole report."))
        if asked.format != TEXT and is_off:
            text = _("--format {name} is about findings, and --level off makes none.")
            raise OptionError(text.format(name=asked.format))
        if asked.program.lower().endswith(".json") and not asked.module:
            return _shown(asked.program, options, asked.format, asked.output)
        script = script_of(asked.program, is_module=asked.module)
    except (OptionError, ReportFormatError) as error:
        print(f"inplace_magic: {error}", file=sys.stderr)
        return 2
    except SyntaxError as error:
        _show(error.with_traceback(None))
        return 1
    if is_off:
        return _unwatched(script, asked.args, options.watch.lang)
    told = None if asked.format == TEXT else (asked.format, asked.output)
    return _watched(script, asked.args, options, told, quiet=asked.quiet)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m inplace_magic",
        usage=_USAGE,
        description=_(
            "Run a program as Python does, and report what went wrong with tensors written in place; or show a "
            "saved report."
        ),
        argument_default=argparse.SUPPRESS,
    )
    (level,), told = flags.settings("level")
    told["help"] += _("; off: watch nothing, and explain an autograd error")
    parser.add_argument(level, **{**told, "metavar": flags.one_of(*LEVELS, OFF)})
    flags.add(parser, "save", "raw", "graph", "check_values", "full", "max_events", "lang")
    form = _(
        "text (default), or the findings for programs: json in one line, github as annotations, sarif as a log; on "
        "standard error, of a saved report on standard output"
    )
    parser.add_argument("--format", choices=(TEXT, *MACHINES), default=TEXT, help=form)
    output = _("a file for the output of --format")
    parser.add_argument("--output", metavar="FILE", default=None, help=output)
    parser.add_argument("--quiet", action="store_true", default=False, help=_("print nothing where nothing is wrong"))
    add = _(
        "load inplace_magic in every new notebook and IPython session: writes to IPython's profile and prints where"
    )
    parser.add_argument("--startup", action=_Instead, does=startup.add, help=add)
    remove = _("undo --startup")
    parser.add_argument("--no-startup", action=_Instead, does=startup.remove, help=remove)
    module = _("run a module, as `python -m` does")
    parser.add_argument("-m", dest="module", action="store_true", default=False, help=module)
    parser.add_argument("program", help=_("the file to run, or with -m the module; or a report saved as JSON"))
    parser.add_argument("args", nargs=argparse.REMAINDER, help=_("arguments of the program"))
    return parser


class _Instead(argparse.Action):
    """An option that does something in place of running a program, and says what."""

    def __init__(self, option_strings: list[str], dest: str, *, does: Callable[[], str], **settings: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **settings)
        self._does = does

    def __call__(self, parser: argparse.ArgumentParser, *_given: Any) -> None:
        try:
            print(self._does())
        except OptionError as error:
            parser.exit(2, f"inplace_magic: {error}\n")
        parser.exit()


def _shown(path: str, options: Options, form: str, output: str | None) -> int:
    """Shows a saved report, or saves it in another format; gives the exit status."""
    from inplace_magic.report import Report

    try:
        with open(path, "rb") as file:
            report = Report.from_json(file.read())
    except OSError as error:
        text = _("{name!r} cannot be read: {reason}.")
        raise OptionError(text.format(name=path, reason=error.strerror or error)) from None
    if options.watch.lang is not None:
        report = report.in_language(checked(options.watch.lang))
    if form != TEXT:
        give(report, form, output, sys.stdout)
    elif options.deliver.save is None:
        say(report.to_text().rstrip("\n"), sys.stdout)
    if options.deliver.save is not None:
        write(report, options.deliver.save, options.show, told=sys.stderr)
    return 0


def _unwatched(script: Script, arguments: list[str], lang: str | None) -> int:
    """Run the program alone; show its error as Python does, and the answer below."""
    hooks.install()
    if lang is not None:
        set_language(lang)
    error = run(script, arguments)
    if error is not None and not isinstance(error, SystemExit):
        _print(error)
        hooks.tell(error)  # where the program has put a hook of its own in front of ours
    return _status(error)


def _watched(
    script: Script, arguments: list[str], options: Options, form: tuple[str, str | None] | None, *, quiet: bool
) -> int:
    from inplace_magic.ranks.stopped import SIGTERM, Stopped
    from inplace_magic.ranks.together import tell_together
    from inplace_magic.record.trace import Trace
    from inplace_magic.watching.api import analyze, watch

    process, rank, watcher = os.getpid(), this_rank(), watch(options.watch)
    faults: list[str] = []

    def begin() -> None:
        if watcher.began:
            return
        try:
            watcher.start(filename=script.code.co_filename, gives_way=True)
        except Exception as fault:  # containment: a fault of ours must not keep the program from running
            faults.append(f"{type(fault).__name__}: {fault}")

    def end(raised: BaseException | None) -> None:
        stopping.ending()
        watcher.leave()
        report = analyze(Trace(level=options.watch.level))
        if watcher.began:
            report = watcher.stop(namespace=vars(script.module), error=raised)
        report = replace(report, trace=replace(report.trace, faults=(*report.trace.faults, *faults)))
        if options.deliver.save is not None:
            write(report, _own(options.deliver.save, rank), options.show, told=sys.stderr)
        if form is not None:
            format_, output = form
            give(report, format_, None if output is None else _own(output, rank), sys.stderr)
        elif rank is None:
            tell(report, quiet=quiet)
        else:
            tell_together(rank, report, stopping, quiet=quiet)

    stopping = Stopped(lambda: end(SIGTERM()))
    if rank is not None:
        stopping.begin()
    # Earlier statements of the program (`os.environ["OMP_NUM_THREADS"] = "1"`, its own path) decide how torch is
    # loaded, so the watch does not load it first: it begins as soon as the program has.
    late = LateImports(FRAMEWORKS, begin)
    late.begin()
    if FRAMEWORKS & sys.modules.keys():
        begin()
    error = run(script, arguments)
    late.end()
    watcher.leave()
    raised = None if isinstance(error, SystemExit) else error
    if raised is not None:
        _show(raised)
    if os.getpid() == process:  # a forked child that comes here has no report of its own
        end(raised)
    stopping.end()
    return _status(error)


def _own(path: str, rank: Rank | None) -> str:
    """Return the file of one rank: ``report.rank3.html``."""
    name, suffix = os.path.splitext(path)
    return path if rank is None else f"{name}.rank{rank.number}{suffix}"


def _show(error: BaseException) -> None:
    """Show an unhandled error as Python does, without the watch's entries."""
    from inplace_magic.watching.api import without_detours

    without_detours(error)
    _print(error)


def _print(error: BaseException) -> None:
    """Print an unhandled error as Python does."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.excepthook(type(error), error, error.__traceback__)


def _status(error: BaseException | None) -> int:
    """Return Python's exit status for a program's last exception
    (https://docs.python.org/3/library/sys.html#sys.exit)."""
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        print(error.code, file=sys.stderr)
        return 1
    if isinstance(error, KeyboardInterrupt) and os.name == "posix":
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 0 if error is None else 1
