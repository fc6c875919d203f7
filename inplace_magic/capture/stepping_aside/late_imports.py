"""Hears of modules that are imported while a watch runs: ``torch._dynamo`` comes with the first compiled function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class LateImports(MetaPathFinder):
    """Finds nothing itself: it lets the other finders find, and is told when the module has run.

    Args:
        imported: called after one of them was imported; must not raise.
    """

    def __init__(self, names: Iterable[str], imported: Callable[[], Any]) -> None:
        self._names = frozenset(names)
        self._imported = imported

    def begin(self) -> None:
        """Listens, unless all of them are there already."""
        if self not in sys.meta_path and not self._names <= sys.modules.keys():
            sys.meta_path.insert(0, self)

    def end(self) -> None:
        """Listens no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders find; with a loader that tells us, where it is one of ours."""
        if fullname not in self._names:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find is None else find(fullname, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    telling: Any = _Telling(spec.loader, spec, self._imported)
                    spec.loader = telling
                return spec
        return None


class _Telling:
    """A loader that runs another one, and tells when it is done; the module keeps the other one."""

    def __init__(self, loader: Any, spec: ModuleSpec, imported: Callable[[], Any]) -> None:
        self._loader = loader
        self._spec = spec
        self._imported = imported

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def exec_module(self, module: Any) -> None:
        """As the other loader does."""
        self._spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._imported()
