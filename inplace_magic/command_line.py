"""``python -m inplace_magic [options] (program.py | -m module) args…``.

Exit status, standard output and arguments are the program's; what a watch has to say goes to standard error.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys

from inplace_magic.api import analyze, watch, without_detours
from inplace_magic.deliver import tell, write
from inplace_magic.errors import OptionError
from inplace_magic.language import AUTO, LANGUAGES, _
from inplace_magic.late_torch import when_imported
from inplace_magic.record.options import LEVELS, SAVE_SUFFIXES, DeliverOptions, ShowOptions, WatchOptions
from inplace_magic.record.trace import Trace
from inplace_magic.script import Script, run, script_of

_USAGE = "python -m inplace_magic [--level LEVEL] [--save FILE] [--lang LANG] [--quiet] (program.py | -m module) ..."


def main(given: list[str]) -> int:
    """Runs the command; gives the exit status, the program's own where it ran."""
    asked = _parser().parse_args(given)
    try:
        options = WatchOptions(level=asked.level, lang=asked.lang)
        deliver = DeliverOptions(save=asked.save)
        script = script_of(asked.program, is_module=asked.module)
    except OptionError as error:
        print(f"inplace_magic: {error}", file=sys.stderr)
        return 2
    except SyntaxError as error:
        _show(error.with_traceback(None))
        return 1
    return _watched(script, asked.args, options, deliver, quiet=asked.quiet)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m inplace_magic",
        usage=_USAGE,
        description=_("Run a program as Python does, and tell what went wrong with tensors that it wrote in place."),
        argument_default=None,
    )
    parser.add_argument("--level", default="calls", metavar="{" + ",".join(LEVELS) + "}", help=_("what is recorded"))
    parser.add_argument(
        "--save",
        metavar="FILE",
        help=_("write the report to a file; its ending picks the format: {endings}").format(
            endings=", ".join(SAVE_SUFFIXES)
        ),
    )
    parser.add_argument("--lang", metavar="{" + ",".join((*LANGUAGES, AUTO)) + "}", help=_("language of the report"))
    parser.add_argument("--quiet", action="store_true", help=_("print nothing where nothing is wrong"))
    parser.add_argument("-m", dest="module", action="store_true", help=_("run a module, as `python -m` does"))
    parser.add_argument("program", help=_("the file to run, or with -m the module"))
    parser.add_argument("args", nargs=argparse.REMAINDER, help=_("arguments of the program"))
    return parser


def _watched(
    script: Script, arguments: list[str], options: WatchOptions, deliver: DeliverOptions, *, quiet: bool
) -> int:
    process, watcher = os.getpid(), watch(options)
    faults: list[str] = []

    def begin() -> None:
        try:
            watcher.start(filename=script.code.co_filename)
        except Exception as fault:  # containment: a fault of ours must not keep the program from running
            faults.append(f"inplace_magic: {type(fault).__name__}: {fault}")

    take_back = when_imported("torch", begin)
    error = run(script, arguments)
    take_back()
    watcher.leave()
    raised = None if isinstance(error, SystemExit) else error
    if raised is not None:
        _show(raised)
    if os.getpid() == process:  # a forked child that comes here has no report of its own
        report = analyze(Trace(level=options.level))
        if watcher.began:
            report = watcher.stop(namespace=vars(script.module), error=raised)
        tell(report, quiet=quiet)
        for fault in faults:
            print(fault, file=sys.stderr)
        if deliver.save is not None:
            write(report, deliver.save, ShowOptions(), told=sys.stderr)
    return _status(error)


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
