"""Modules that have been imported and are out of sight until a program imports them."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any


def top(name: str) -> str:
    """The package that a module belongs to."""
    return name.partition(".")[0]


class Hidden(MetaPathFinder, Loader):
    """A library with all that it imported: the first import of it puts all of that back, the first import of another
    package among it that package alone."""

    def __init__(self, library: str, names: Iterable[str]) -> None:
        self.library = library
        self.modules: dict[str, ModuleType] = {name: sys.modules[name] for name in names}

    def take_in(self, *others: Hidden) -> None:
        """Takes over what others imported of the same packages."""
        packages = {top(name) for name in self.modules}
        for other in others:
            for name in [name for name in other.modules if top(name) in packages]:
                self.modules[name] = other.modules.pop(name)

    def hide(self) -> None:
        """Takes the modules out of sight."""
        for name in self.modules:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, self)

    def give_way(self, places: Iterable[str]) -> None:
        """Leaves a library alone of which there is another in one of the places where a program looks first."""
        own = self.modules.get(self.library)
        for place in places:
            folder = Path(place, self.library)
            if own is not None and folder.is_dir() and folder != Path(str(own.__file__)).parent:
                sys.meta_path.remove(self)
                return

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Of a package that is still hidden."""
        module = self.modules.get(fullname) if fullname == top(fullname) else None
        if module is None or module.__spec__ is None:
            return None
        spec = copy.copy(module.__spec__)
        spec.loader = self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module that there is, with what importing it is about to change."""
        module = self.modules[spec.name]
        self._own: Any = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Puts back what belongs to it."""
        module.__spec__, module.__loader__ = self._own, self._own.loader
        library = module.__name__
        back = [name for name in self.modules if library in (self.library, top(name))]
        for name in back:
            sys.modules.setdefault(name, self.modules.pop(name))
        if library == "torch":
            sys.modules["__mp_main__"] = sys.modules["__main__"]  # as multiprocessing has it, which torch imports
