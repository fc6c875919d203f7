"""Every function of the write side, found by reading its modules, to be made to fail one at a time."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import pytest

import inplace_magic.capture
import inplace_magic.rerun
import inplace_magic.source

MODULES: tuple[ModuleType, ...] = tuple(
    importlib.import_module(found.name)
    for room in (inplace_magic.capture, inplace_magic.rerun, inplace_magic.source)
    for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
    if not found.ispkg and ".paddle" not in found.name  # tests/of_paddle has those of Paddle
)

BOUNDARY: dict[str, str] = {
    "probes.CallProbe.__torch_function__": "runs the user's call",
    "probes.OpProbe.__torch_dispatch__": "runs the user's operator",
    "probes.CallProbe._with_user_code_seen": "runs the user's backward",
    "callers.call_plainly": "runs the user's call",
    "functions.without_override_check": "gives what runs the user's backward",
    "functions._no_override": "runs inside the user's backward",
    "functions._Module.__init__": "runs before the user's backward",
    "functions._Module.__getattr__": "runs inside the user's backward",
    "probes.CallProbe._open": "contains what fails before a call",
    "probes.CallProbe._close": "contains what fails after a call",
    "log.Faults.contained": "contains what fails in a step of ours",
    "log.Faults.within_call": "contains what fails around the user's call",
    "log.Faults.fault": "notes what was contained",
    "tracebacks.without_our_frames": "runs while the user's error passes",
    "tracebacks._around_dispatch": "runs while the user's error passes",
    "callers.is_stand_in": "runs while the user's error passes",
    "probes.types_override": "decides how the user's backward is run",
    "probes.keep_out_of_dynamo": "runs at import",
    "recorder.Recorder.drop": "lets go of a call whose closing failed",
    "session.Session.leave": "takes the probes off",
    "global_hooks.GlobalHooks._before_step": "contains what fails before an optimizer's step",
    "global_hooks.GlobalHooks._before_parameter": "contains what fails before a module takes a parameter",
    "sessions.Sessions.leave": "takes the probes off",
    "sessions.Sessions._leave": "takes the probes off",
    "modes.take_off": "takes the probes off",
    "modes._stacks": "takes the probes off",
    "modes._some": "takes the probes off",
    "modes._among": "takes the probes off",
    "modes._set_stack": "takes the probes off",
    "modes._forget_flags": "takes the probes off",
    "session.Session._unhook": "takes torch's hooks off",
    "session.Session._close_doors": "takes the doors off",
    "aside.Aside.finish": "takes the doors off",
    "doors.close_for": "takes the doors off",
    "doors.hang": "takes the doors off",
    "doors._set": "takes the doors off",
    "doors._Place.put_theirs": "takes the doors off",
    "late_imports.LateImports.end": "takes the doors off",
    **dict.fromkeys(
        (
            "aside.here",
            "aside.Aside.is_for",
            "passages._ends_here",
            "passages._EnterExitHooks.__get__",
            "passages._EnterExitHooks.__set__",
            "passages._WithOurs.__init__",
            "passages._WithOurs.__iter__",
            "passages._WithOurs.__getattr__",
            "passages._compiled_begins",
            "passages._arguments",
            "passages._nothing",
            "passages._Around.__init__",
            "passages._Around.__enter__",
            "passages._Around.__exit__",
            "passages._without_ours",
            "late_imports.LateImports.find_spec",
            "late_imports._Telling.__init__",
            "late_imports._Telling.__getattr__",
            "late_imports._Telling.exec_module",
        ),
        "runs as a part of PyTorch",
    ),
    "modes.dispatch_flags": "takes the probes off",
    "modes.set_dispatch_flags": "takes the probes off",
}
"""They are the walls: nothing stands outside them that could contain a fault of theirs, so they are not broken here."""


@dataclass(frozen=True)
class Target:
    """One function or method of ours."""

    name: str
    owner: Any
    attribute: str
    function: FunctionType

    def break_(self, monkeypatch: pytest.MonkeyPatch, broken: Callable[..., Any]) -> None:
        """Puts `broken` wherever the function is reached by name."""
        if inspect.isclass(self.owner):
            raw = inspect.getattr_static(self.owner, self.attribute)
            monkeypatch.setattr(
                self.owner, self.attribute, staticmethod(broken) if isinstance(raw, staticmethod) else broken
            )
            return
        for module in MODULES:
            for name, value in list(vars(module).items()):
                if value is self.function:
                    monkeypatch.setattr(module, name, broken)


def targets() -> Iterator[Target]:
    """All of them, in the order of the files."""
    for module in MODULES:
        short = module.__name__.rsplit(".", 1)[1]
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if isinstance(value, FunctionType):
                yield Target(f"{short}.{name}", module, name, value)
            elif inspect.isclass(value):
                for attribute, member in vars(value).items():
                    function = member.__func__ if isinstance(member, staticmethod) else member
                    if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                        yield Target(f"{short}.{name}.{attribute}", value, attribute, function)
