"""The raw log of a watch, call by call: numbers, and the records of seen objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from inplace_magic.capture.beside import Beside
from inplace_magic.capture.frozen.writes import RawForeignWrite, RawUnseenWrite
from inplace_magic.capture.records import Observation
from inplace_magic.record.autograd import AddedTo, Backward, IdleStep, Registration
from inplace_magic.record.events import Dropped, UnseenWrite
from inplace_magic.record.names import KeptByHook

RawCall = tuple[Any, ...]
"""One call after it ran, numbers only, in one flat tuple: its number, the function's facts, kind, number of the place,
error, number of the parent, whether gradients were recorded, autograd's sequence number, how many inputs and outputs it
has, these as observations, and :data:`EACH` entries for each mutation."""

FACTS: Final = 1
SITE: Final = 3
COUNTS: Final = 8
HEAD: Final = 10
EACH: Final = 5
"""The tensor afterwards, its version before, its values before and after, and the elements written."""


def inputs_of(raw: RawCall) -> tuple[Observation, ...]:
    """Return what a call was given."""
    return raw[HEAD : HEAD + raw[COUNTS]]


def outputs_of(raw: RawCall) -> tuple[Observation, ...]:
    """Return what it gave."""
    return raw[HEAD + raw[COUNTS] : HEAD + raw[COUNTS] + raw[COUNTS + 1]]


def mutations_of(raw: RawCall) -> Any:
    """Return the entries of each mutation."""
    first = HEAD + raw[COUNTS] + raw[COUNTS + 1]
    return tuple([raw[i : i + EACH] for i in range(first, len(raw), EACH)])


RawOp = tuple[Any, ...]
"""(name, call, whether backward ran it, where the outputs begin, then serial numbers: of what it read or, as
``~serial``, wrote, and of its outputs): plain numbers in one tuple, so that the garbage collector soon drops it."""

ACCESSES: Final = 3
FIRST_ACCESS: Final = 4
"""Positions in a :data:`RawOp` of the end of its accesses, and of the first of them."""


_MOST_REGISTRATIONS = 10_000
_T = TypeVar("_T")


class Faults:
    """What failed in steps of ours, and was contained."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.no_room = False
        """Whether calls went unrecorded because the user's recursion had used up the stack."""

    def fault(self, doing: str, fault: Exception) -> None:
        """Notes a fault of our own, once per kind."""
        line = (
            f"inplace_magic failed while {doing} ({type(fault).__name__}: {fault}); the cell was not affected. Please "
            "report it."
        )
        if line not in self.faults:
            self.faults.append(line)

    def contained(self, doing: str, step: Callable[..., _T], *what: Any) -> _T | None:
        """Return what a step of ours gives; None where it fails, which is noted and changes nothing for the user."""
        try:
            return step(*what)
        except Exception as fault:  # containment: whatever fails in here, the user's program goes on
            self.fault(doing, fault)
        return None

    def within_call(self, doing: str, step: Callable[..., _T], *what: Any) -> _T | None:
        """As :meth:`contained`, of a step around a call of the user's: a full stack there is no fault of ours."""
        try:
            return step(*what)
        except RecursionError:  # the user's, whose stack has no room for more; so no function is called here
            self.no_room = True
        except Exception as fault:  # containment, as above
            self.fault(doing, fault)
        return None


class Log(Faults):
    """What a watch collects call by call; tensors, storages and nodes are in their own maps."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = 0
        """How many calls have begun."""
        self.calls: list[RawCall] = []
        self.ops: list[RawOp] = []
        self.forgotten_ops = 0
        self.older_ops: Sequence[int] = ()
        """Numbers of the first ones in `ops`, where others between them were forgotten."""
        self.dropped: dict[int, Dropped] = {}
        """Values that a call's write did not keep, by its number."""
        self.uncertain: set[int] = set()
        """Numbers of the calls that may not have written what they are known to write."""
        self.kept: list[KeptByHook] = []
        self.backwards: list[Backward] = []
        self.idle_steps: list[tuple[int | None, IdleStep]] = []
        """Each with the number of its place, as the next ones."""
        self.registrations: list[tuple[int | None, Registration]] = []
        self.unseen: list[RawUnseenWrite] = []
        self.foreign: list[RawForeignWrite] = []
        self.repeats: dict[int, int] = {}
        """By its number, for how many further calls the row of a call stands, see :mod:`.past.repeats`."""
        self.light = 0
        """How many these are, with those of rows that are kept no longer."""
        self.forgotten = 0
        """Number of discarded calls."""
        self.beside = Beside()
        self.not_seen: dict[tuple[str, str, int | None], int | None] = {}
        """Work that was not watched: (what the report says of it, name of its call, place), and how many times it ran,
        where that is counted."""

    def note_unseen(self, counter: Any, tensor: int, version: int | None, site: int | None) -> None:
        """Notes that a version moved since it was last looked at, by a write that nobody saw.

        Args:
            counter: the record of the counter, or of the memory whose counter it is.
            tensor: serial number of the tensor that shows it.
            version: as it is now.
            site: number of the place that looks.
        """
        write = UnseenWrite(counter.serial, counter.version, version, self.begun, beside=self.beside.others())
        self.unseen.append((write, tensor, counter.seen_at, site))

    def note_added(self, call: int, added: tuple[AddedTo, ...]) -> None:
        """Notes to which gradients the backward of a call added."""
        for place in range(len(self.backwards) - 1, -1, -1) if added else ():
            if self.backwards[place].call == call:
                self.backwards[place] = replace(self.backwards[place], added_to=added)
                return

    @property
    def op_count(self) -> int:
        """How many operators ran: the number that the next one gets."""
        return len(self.ops) + self.forgotten_ops

    @property
    def op_numbers(self) -> Sequence[int]:
        """The numbers of the operators that are kept."""
        latest = range(len(self.older_ops) + self.forgotten_ops, self.op_count)
        return [*self.older_ops, *latest] if self.older_ops else latest

    @property
    def ran(self) -> int:
        """How many calls ran."""
        return self.begun + self.light

    @property
    def registrations_full(self) -> bool:
        """True if nothing more is noted of what modules are given."""
        return len(self.registrations) >= _MOST_REGISTRATIONS
