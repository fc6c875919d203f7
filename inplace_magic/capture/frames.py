"""Whose code a frame runs: the user's, a framework's, a library's, or this package's.

Packages that ``pip install --target FOLDER`` has put into a folder of ``sys.path`` count as libraries. The folder may
be the user's own, with their files beside the installed ones: so only what is in the ``RECORD`` of an installed
distribution counts.
"""

from __future__ import annotations

import json
import os
import site
import sys
import sysconfig
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import CodeType, ModuleType

OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
"""Where the code of this package lies."""


@dataclass(frozen=True, slots=True)
class FrameworkFrames:
    """Which frames of a framework mean what to a chain of callers."""

    module_file: str
    """Where the code is that runs the ``forward`` of a module."""
    runs_hooks: str
    """Name of the function there that runs the ``forward`` of a module with hooks, and those."""
    is_passed_over: Callable[[str], bool]
    """Of a file: whether its frames are part of the call itself, as those of override machinery are."""
    is_stand_in: Callable[[CodeType], bool]
    """Of a code: whether it stands for the frame above it."""


def imported(framework: str) -> ModuleType | None:
    """Return the framework, if it was imported; a module of the user's that has the same name, as a game's
    ``paddle.py``, is none."""
    module = sys.modules.get(framework)
    return module if hasattr(module, "Tensor") else None


def library_folders() -> tuple[str, ...]:
    """Return the folders of code that is not the user's, including imported frameworks, and packages installed into
    another folder of ``sys.path``."""
    folders = {OURS, *_pythons_folders()}
    for framework in ("torch", "paddle"):
        file = getattr(imported(framework), "__file__", None)
        if file:
            folders.add(os.path.dirname(os.path.abspath(file)))
    modules: set[str] = set()
    for entry in sys.path:
        if type(entry) is str and entry not in folders:
            for each in installed_into(entry or os.getcwd()):
                (modules if each.endswith((".py", ".so", ".pyd")) else folders).add(each)
    return (*(os.path.join(folder, "") for folder in sorted(folders) if folder), *sorted(modules))


@cache
def _pythons_folders() -> frozenset[str]:
    """Return those of the interpreter; they stay where they are, and to work them out takes a tenth of a short
    watch."""
    paths = sysconfig.get_paths()
    folders = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders.update(site.getsitepackages() if hasattr(site, "getsitepackages") else ())
    folders.add(site.getusersitepackages())
    return frozenset(folders)


@cache
def installed_into(folder: str) -> frozenset[str]:
    """Return the packages and modules that an installer put into a folder; looked up once, as the import system lists
    it.

    Args:
        folder: an entry of ``sys.path``.
    """
    folder = os.path.abspath(folder)
    found: set[str] = set()
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.endswith(".dist-info"):
                found |= _recorded(folder, name)
    return frozenset(found)


def _recorded(folder: str, name: str) -> set[str]:
    """Return the packages and modules of a distribution. Without ``INSTALLER`` nobody installed it here: it was built
    here or unpacked, as a project's own is. A folder that holds other Python files, too, is the user's."""
    if not os.path.exists(os.path.join(folder, name, "INSTALLER")) or _is_editable(os.path.join(folder, name)):
        return set()
    try:
        with open(os.path.join(folder, name, "RECORD"), encoding="utf-8") as record:
            files = {line.strip('"').split(",", 1)[0].strip('"') for line in record}
    except (OSError, UnicodeDecodeError):
        return set()
    tops = {file.split("/", 1)[0] for file in files if file.endswith((".py", ".pyi", ".so", ".pyd"))}
    return {os.path.join(folder, top) for top in tops if top != ".." and _is_whole(folder, top, files)}


def _is_whole(folder: str, top: str, files: set[str]) -> bool:
    try:
        inside = os.listdir(os.path.join(folder, top))
    except OSError:  # a module
        return True
    return files.issuperset([f"{top}/{name}" for name in inside if name.endswith(".py")])


def _is_editable(info: str) -> bool:
    try:
        with open(os.path.join(info, "direct_url.json"), encoding="utf-8") as told:
            return bool(json.load(told)["dir_info"]["editable"])
    except (OSError, ValueError, LookupError, TypeError):  # most have no such file
        return False


def belongs_to_user(filename: str, libraries: tuple[str, ...]) -> bool:
    """True if code that was compiled under a name is the user's, where libraries lie in these folders."""
    if filename.startswith("<"):
        return filename.startswith(("<ipython-input", "<stdin", "<string", "<cell", "<doctest"))
    return not os.path.abspath(filename).startswith(libraries)


def class_of(forward: CodeType) -> str:
    """Return the class whose ``forward`` this is."""
    # Python 3.10 has no qualified name; the class is not read from `f_locals`, which would keep tensors alive.
    return class_in(str(getattr(forward, "co_qualname", "forward")))


def class_in(qualified: str) -> str:
    """Return the class in the qualified name of a method; ``Module`` if there is none."""
    parts = qualified.split(".")
    return parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else "Module"
