"""``python -m inplace_magic [options] (program.py | -m module) args…``, and ``python -m inplace_magic report.json``.

Exit status, standard output and arguments are the program's; what a watch has to say goes to standard error.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from dataclasses import replace

from inplace_magic import flags
from inplace_magic.api import analyze, watch, without_detours
from inplace_magic.deliver import say, tell, write
from inplace_magic.errors import OptionError, ReportFormatError
from inplace_magic.flags import Options
from inplace_magic.language import _, checked
from inplace_magic.late_torch import when_imported
from inplace_magic.ranks.rank import Rank, this_rank
from inplace_magic.ranks.stopped import SIGTERM, Stopped
from inplace_magic.ranks.together import tell_together
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report
from inplace_magic.script import Script, run, script_of

_USAGE = "python -m inplace_magic [options] (program.py | -m module | report.json) ..."


def main(given: list[str]) -> int:
    """Runs the command; gives the exit status, the program's own where it ran."""
    asked = _parser().parse_args(given)
    try:
        options = Options.of(vars(asked))
        if asked.program.lower().endswith(".json") and not asked.module:
            return _shown(asked.program, options)
        script = script_of(asked.program, is_module=asked.module)
    except (OptionError, ReportFormatError) as error:
        print(f"inplace_magic: {error}", file=sys.stderr)
        return 2
    except SyntaxError as error:
        _show(error.with_traceback(None))
        return 1
    return _watched(script, asked.args, options, quiet=asked.quiet)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m inplace_magic",
        usage=_USAGE,
        description=_(
            "Run a program as Python does, and tell what went wrong with tensors that it wrote in place; or show a "
            "report that was saved."
        ),
        argument_default=argparse.SUPPRESS,
    )
    flags.add(parser, "level", "save", "raw", "graph", "check_values", "max_events", "lang")
    parser.add_argument("--quiet", action="store_true", default=False, help=_("print nothing where nothing is wrong"))
    module = _("run a module, as `python -m` does")
    parser.add_argument("-m", dest="module", action="store_true", default=False, help=module)
    parser.add_argument("program", help=_("the file to run, or with -m the module; or a report saved as JSON"))
    parser.add_argument("args", nargs=argparse.REMAINDER, help=_("arguments of the program"))
    return parser


def _shown(path: str, options: Options) -> int:
    """Shows a saved report, or saves it in another format; gives the exit status."""
    try:
        with open(path, "rb") as file:
            report = Report.from_json(file.read())
    except OSError as error:
        raise OptionError(
            _("{name!r} cannot be read: {reason}.").format(name=path, reason=error.strerror or error)
        ) from None
    if options.watch.lang is not None:
        report = report.in_language(checked(options.watch.lang))
    if options.deliver.save is None:
        say(report.to_text().rstrip("\n"), sys.stdout)
        return 0
    write(report, options.deliver.save, options.show, told=sys.stderr)
    return 0


def _watched(script: Script, arguments: list[str], options: Options, *, quiet: bool) -> int:
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
        if rank is None:
            tell(report, quiet=quiet)
        else:
            tell_together(rank, report, stopping, quiet=quiet)

    stopping = Stopped(lambda: end(SIGTERM()))
    if rank is not None:
        stopping.begin()
    take_back = [when_imported(framework, begin) for framework in ("torch", "paddle")]
    error = run(script, arguments)
    for each in take_back:
        each()
    watcher.leave()
    raised = None if isinstance(error, SystemExit) else error
    if raised is not None:
        _show(raised)
    if os.getpid() == process:  # a forked child that comes here has no report of its own
        end(raised)
    stopping.end()
    return _status(error)


def _own(path: str, rank: Rank | None) -> str:
    """The file of one rank: ``report.rank3.html``."""
    name, suffix = os.path.splitext(path)
    return path if rank is None else f"{name}.rank{rank.number}{suffix}"


def _show(error: BaseException) -> None:
    """As Python shows what nobody caught."""
    without_detours(error)
    sys.excepthook(type(error), error, error.__traceback__)


def _status(error: BaseException | None) -> int:
    """The exit status that Python gives for what a program ended with
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
