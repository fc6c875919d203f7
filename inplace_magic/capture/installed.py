"""Packages that ``pip install --target FOLDER`` has put into a folder of ``sys.path``: they count as libraries.

The folder may be the user's own, with their files beside the installed ones. So only files in the ``RECORD`` of an
installed distribution count as a library.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from functools import cache


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
