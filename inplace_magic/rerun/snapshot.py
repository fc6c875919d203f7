"""What a program begins with, kept as copies from before it ran, so that it can be run again from there."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from inplace_magic.rerun.free_memory import too_little_room
from inplace_magic.rerun.settings import generators, same_settings
from inplace_magic.rerun.state import find_state, is_atom, is_shells_own
from inplace_magic.rerun.twins import copy_state, in_place, share_unchanged


class Snapshot:
    """Copies of the variables that some code can reach, and the state of all generators.

    Raises:
        CopyError: something cannot be copied; the text says what.
    """

    def __init__(self, codes: Iterable[CodeType], namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        state = find_state(codes, (), namespace)
        if sentence := too_little_room(state.tensors, copies=2):  # these, and those of a run that begins with them
            print(sentence, file=sys.stderr)
        self._copies = copy_state(state, (), namespace)
        self._atoms = {name: value for name, value in namespace.items() if is_atom(value)}
        self._generators = generators()

    @contextmanager
    def begun(self) -> Iterator[None]:
        """While the block runs, variables and generators are as they were when this was made. Once: afterwards what the
        cell left alone lies in the memory of the variables."""
        namespace = self._namespace
        share_unchanged(self._copies)
        with same_settings(), in_place(self._copies, namespace):
            copied = {place.key for place, _value in self._copies.places if place.holder is namespace}
            for name, value in list(namespace.items()):
                if name not in copied and not is_shells_own(name, value):
                    del namespace[name]
            namespace.update({name: value for name, value in self._atoms.items() if name not in copied})
            for state, write in self._generators:
                write(state)
            yield
