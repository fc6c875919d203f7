"""Where a call happened: at run time only code objects and instruction offsets, after the cell lines, text and names.

A place is a chain of the user's own frames, innermost first, up to the watched cell. Frames of a framework, of
installed packages and of this package are never part of it: the line that called them is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import CO_NEWLOCALS
from types import CodeType, FrameType
from typing import Any

from inplace_magic.capture.frames import OURS, FrameworkFrames, belongs_to_user, class_of, library_folders
from inplace_magic.record.places import Callsite
from inplace_magic.source.places import Sources

RawChain = tuple[int, ...]
"""``(indirect, id(code), f_lasti, id(code), f_lasti, …)``; the code objects are kept alive by :class:`CallsiteTable`.
``indirect`` is 1 when library code stands between the first place and the framework's function."""


_USER, _END, _FORWARD, _MODULE, _LIBRARY, _HOOKED = 1, 2, 4, 8, 16, 32
"""The role of a frame in a chain, as bits: the user's; the user's at which the chain ends; a function named
``forward``; the framework's that runs modules; other code that is not the user's; and, with the framework's, that it
runs a module with hooks. What is part of the call itself is nothing."""

_IN_THE_MIDDLE = _USER | _END | _FORWARD
"""What still matters above the first place."""

_FORWARD_MARK = -_MODULE
"""Stands after the ``id`` of a ``forward`` that a module runs, where a place has its ``f_lasti``."""

_HOOKED_MARK = -(_MODULE | _HOOKED)
"""The same, of a module that has hooks."""

_MOST_PLACES = 15
"""Number of places at each end of a chain of callers."""

_LONGEST_KNOWN = 8 * _MOST_PLACES
"""Most entries of a path that is stored whole."""


class CallsiteTable:
    """Collects places during the watch and resolves them after it.

    Args:
        modules: note the modules around each place; else no place has any, and the way up the stack is shorter.
    """

    def __init__(self, frames: FrameworkFrames, *, modules: bool = True) -> None:
        self._libraries = library_folders()
        self._is_user: dict[str, bool] = {}
        self._frames = frames
        self._notes_modules = modules
        self._codes: dict[int, CodeType] = {}
        self._kinds: dict[int, int] = {}
        """By ``id`` of the code, for the present cell."""
        self.chains: list[RawChain] = []
        self.modules: list[tuple[str, ...]] = []
        """Classes of the modules whose ``forward`` was running, outermost first, by number of the place."""
        self.hooks: set[int] = set()
        """Numbers of the places where a module around the call has hooks."""
        self._numbers: dict[tuple[int, ...], int] = {}
        """Of places by their paths, and by what is left of them when cut: (*chain, mark, *forwards, *marks)."""
        self._library: set[tuple[int, str, int, int]] = set()
        """(place, name of a writing call, ``id`` of the code, ``f_lasti``): the library's own instructions
        that made such calls."""
        self.behind: FrameType | None = None
        """The call of backward, while it runs: the caller of hooks that the engine runs on its own thread."""
        self._root: CodeType | None = None
        self._root_file: str | None = None
        self._cell_globals: Mapping[str, Any] | None = None
        self._cell_of: dict[int, int | None] = {}
        """By ``id`` of the code, execution count of its cell when it was first resolved. ipykernel compiles cells of
        equal text, such as two times ``opt.step()``, under one file name, which soon stands for the later cell."""

    def begin_at(
        self, root: FrameType | None, cell_globals: Mapping[str, Any] | None = None, root_file: str | None = None
    ) -> None:
        """Set the frame of the watched block, where chains of callers end. IPython compiles each statement of a cell
        alone, so in a cell every module-level frame of the same file is an end.

        Args:
            root: the frame; None where it does not run yet, before a cell. One of this package, which calls the block
                for a host such as pytest, is where chains end, and is in none.
            cell_globals: without a frame, the namespace of the shell's cells. The first call tells the cell: the
                outermost of its callers that runs a module's statements in this namespace. What is above it (IPython,
                ipykernel, the user's script that runs a shell) is no part of the story.
            root_file: without both, the name under which the block's code was compiled, before it runs.
        """
        self._kinds.clear()
        self._root = root.f_code if root is not None else None
        self._root_file = root_file if root is None else None
        if root_file is not None:
            self._is_user[root_file] = True
        self._cell_globals = cell_globals if root is None else None
        if root is not None and not root.f_code.co_filename.startswith(OURS):
            self._is_user[root.f_code.co_filename] = True  # also `<timed exec>`, under %%time
            if not root.f_code.co_flags & CO_NEWLOCALS:
                self._root_file = root.f_code.co_filename

    def _find_cell(self, frame: FrameType | None) -> None:
        outermost = None
        while frame is not None:
            if frame.f_globals is self._cell_globals and not frame.f_code.co_flags & CO_NEWLOCALS:
                outermost = frame
            frame = frame.f_back
        if outermost is not None:
            self._root_file = outermost.f_code.co_filename
            self._is_user[self._root_file] = True
            self._kinds.clear()
            self._cell_globals = None  # found; held no longer

    def note(self, frame: FrameType | None, function: CodeType | None = None) -> int | None:
        """Return the number of the place at `frame`, and of the modules around it; None when no frame is the user's.

        Args:
            frame: the frame that called the framework's function, or its override machinery.
            function: code of that function where it is written in Python; its frame is part of the call.
        """
        if self._cell_globals is not None:
            self._find_cell(frame)
        frame = frame or self.behind
        if frame is None:
            return None
        try:
            path = self._path(frame, function)
        except KeyError:
            self._learn(frame)
            path = self._path(frame, function)
        number = self._numbers.get(path)
        return self._number(path) if number is None else number

    def _path(self, frame: FrameType, function: CodeType | None) -> tuple[int, ...]:
        """Return the user's frames and the ``forward`` functions of the modules around them, innermost first. Any other
        frame costs one look into a dict. A decorator's frame may stand between a ``forward`` and the module that runs
        it.

        Raises:
            KeyError: a frame runs new code.
        """
        kinds = self._kinds
        path = [0]
        forward = 0
        above: FrameType | None = frame
        behind = self.behind
        while above is not None:
            code = above.f_code
            key = id(code)
            kind = kinds[key]
            if kind & _IN_THE_MIDDLE:
                break
            if kind and code is not function:
                path[0] = 1
            above = above.f_back
        while True:
            while above is not None:
                key = id(above.f_code)
                kind = kinds[key]
                if kind & _IN_THE_MIDDLE:
                    if kind & _USER:
                        path.append(key)
                        path.append(above.f_lasti)
                        if kind & _END:
                            break
                    elif kind & _END:
                        break
                    elif kind & _LIBRARY and len(path) == 1:
                        path[0] = 1
                    if kind & _FORWARD:
                        forward = key
                elif forward and kind & _MODULE:
                    path.append(forward)
                    path.append(-kind)
                    forward = 0
                above = above.f_back
            if above is not None or behind is None:
                return tuple(path)
            above, behind = behind, None

    def note_library(self, frame: FrameType | None, place: int | None, name: str, function: CodeType | None) -> None:
        """Note the library's own instruction behind a writing call that the user's line did not make.

        Args:
            frame: as for :meth:`note`.
            place: the number from :meth:`note`.
            function: as for :meth:`note`.
        """
        if place is None or not self.chains[place][0]:
            return
        while frame is not None:
            code = frame.f_code
            kind = self._kinds.get(id(code), _USER)
            if kind & (_USER | _END):
                return
            if kind and code is not function:
                self._library.add((place, name, id(code), frame.f_lasti))
                return
            frame = frame.f_back

    def codes_of(self, place: int) -> list[CodeType]:
        """Return the code of the user's frames at a place, innermost first."""
        return [self._codes[code] for code in self.chains[place][1::2]]

    def library_expressions(self, sources: Sources) -> dict[tuple[int, str], str]:
        """Return the library's expression of each writing call, by number of the place and name of the call; without
        lines that reached several."""
        found: dict[tuple[int, str], set[str]] = {}
        for place, name, code, lasti in self._library:
            found.setdefault((place, name), set()).add(sources.expression_at(self._codes[code], lasti))
        return {key: texts.pop() for key, texts in found.items() if len(texts) == 1}

    def is_users(self, code: CodeType) -> tuple[bool, bool]:
        """Return two flags: the code is the user's, and chains of callers end at it."""
        kind = self._kinds.get(id(code))
        kind = self._kind(code) if kind is None else kind
        return bool(kind & _USER), bool(kind & _END)

    def _learn(self, frame: FrameType | None) -> None:
        for above in (frame, self.behind):
            while above is not None:
                code = above.f_code
                kind = self._kinds.get(id(code))
                if (self._kind(code) if kind is None else kind) & _END:
                    return
                above = above.f_back

    def _number(self, path: tuple[int, ...]) -> int | None:
        """Return the number of a path that is new or cut."""
        chain: list[int] = [path[0]]
        forwards: list[int] = []
        marks: list[int] = []
        for i in range(1, len(path), 2):
            if path[i + 1] < 0:
                forwards.append(path[i])
                marks.append(path[i + 1])
            else:
                chain += path[i : i + 2]
        if len(chain) == 1:
            return None
        if len(chain) > 1 + 4 * _MOST_PLACES:  # a deep recursion: its ends tell enough
            del chain[1 + 2 * _MOST_PLACES : -2 * _MOST_PLACES]
        del forwards[2 * _MOST_PLACES :], marks[2 * _MOST_PLACES :]
        cut = (*chain, _FORWARD_MARK, *forwards, *marks)
        number = self._numbers.get(cut)
        if number is None:
            number = self._numbers[cut] = len(self.chains)
            self.chains.append(tuple(chain))
            self.modules.append(tuple(class_of(self._codes[forward]) for forward in reversed(forwards)))
            if _HOOKED_MARK in marks:
                self.hooks.add(number)
        if len(path) <= _LONGEST_KNOWN:
            self._numbers[path] = number
        return number

    def _kind(self, code: CodeType) -> int:
        """Return the role of this code's frames in a chain; cached, and the code kept alive, so that its ``id`` is not
        reused."""
        filename = code.co_filename
        mine = self._is_user.get(filename)
        if mine is None:
            mine = self._is_user[filename] = belongs_to_user(filename, self._libraries)
        if self._frames.is_stand_in(code):
            kind = 0  # the frame above it is the one that it stands for
        elif code is self._root or (filename == self._root_file and not code.co_flags & CO_NEWLOCALS):
            kind = _USER | _END if mine else _END
        elif mine:
            kind = _USER
        elif filename == self._frames.module_file and self._notes_modules:
            kind = _MODULE | _HOOKED if code.co_name == self._frames.runs_hooks else _MODULE
        else:
            kind = 0 if self._frames.is_passed_over(filename) else _LIBRARY
        if code.co_name == "forward" and self._notes_modules:
            kind |= _FORWARD
        self._codes[id(code)] = code
        self._kinds[id(code)] = kind
        return kind

    def resolve(self, sources: Sources) -> list[Callsite]:
        """Return all places collected so far, by their numbers."""
        made: dict[RawChain, Callsite] = {}
        return [self._resolve(chain, sources, made) for chain in self.chains]

    def _resolve(self, chain: RawChain, sources: Sources, made: dict[RawChain, Callsite]) -> Callsite:
        known = made.get(chain)
        if known is None:
            caller = self._resolve((0, *chain[3:]), sources, made) if len(chain) > 3 else None
            place = sources.locate(self._codes[chain[1]], chain[2], caller)
            cell = self._cell_of.setdefault(chain[1], place.cell)
            if chain[0] or cell != place.cell:
                place = replace(place, direct=not chain[0], cell=cell)
            known = made[chain] = place
        return known
