"""A program run as Python runs it: ``python program.py args…`` or ``python -m module args…``."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from types import CodeType, ModuleType

from inplace_magic.errors import OptionError
from inplace_magic.language import _


@dataclass(frozen=True)
class Script:
    """The compiled program."""

    code: CodeType
    module: ModuleType
    """An empty module, which is ``sys.modules["__main__"]`` during the run, so that the program's classes can be
    pickled."""
    name: str
    """``sys.argv[0]``."""
    folder: str | None
    """What stands first in ``sys.path``; None: the working directory, as now."""


def script_of(name: str, *, is_module: bool) -> Script:
    """Return the program of a file, or of a module as ``-m`` takes it.

    Raises:
        OptionError: there is none.
        SyntaxError: its text is no Python.
    """
    return _of_module(name) if is_module else _of_file(name)


def _of_file(path: str) -> Script:
    file = os.path.abspath(path)
    try:
        with io.open_code(file) as opened:
            text = opened.read()
    except OSError as error:
        sentence = _("{name!r} cannot be run: {reason}.")
        raise OptionError(sentence.format(name=path, reason=error.strerror or error)) from None
    module = ModuleType("__main__")
    module.__dict__.update(__file__=file, __cached__=None, __doc__=None, __annotations__={})
    code = compile(text, file, "exec", dont_inherit=True)
    return Script(code, module, path, os.path.dirname(os.path.realpath(file)))


def _of_module(name: str) -> Script:
    try:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = find_spec(f"{name}.__main__")
    except (ImportError, AttributeError, ValueError):
        spec = None
    find = getattr(spec.loader, "get_code", None) if spec is not None else None
    code = find(spec.name) if find is not None and spec is not None else None
    if spec is None or code is None:
        raise OptionError(_("There is no module {name!r} that could be run.").format(name=name))
    module = ModuleType("__main__")
    module.__dict__.update(
        __file__=spec.origin,
        __cached__=spec.cached,
        __annotations__={},
        __loader__=spec.loader,
        __package__=spec.parent,
        __spec__=spec,
    )
    return Script(code, module, spec.origin or name, None)


def run(script: Script, arguments: list[str]) -> BaseException | None:
    """Run a program to its end. Return its exception, ``SystemExit`` included, with the traceback of its own lines."""
    sys.argv[:] = [script.name, *arguments]
    if script.folder is not None and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = script.folder
    sys.modules["__main__"] = script.module
    try:
        exec(script.code, script.module.__dict__)
    except BaseException as error:
        ours = error.__traceback__
        return error.with_traceback(ours.tb_next if ours is not None else None)
    return None
