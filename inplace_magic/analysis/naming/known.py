"""The names of one trace, indexed: by what each function, each line and the user's namespace know a tensor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from inplace_magic.analysis.naming.aliases import Aliases
from inplace_magic.analysis.naming.bindings import Bindings
from inplace_magic.analysis.naming.rebindings import Rebinding, rebindings
from inplace_magic.record.grouped import grouped, grouped_by
from inplace_magic.record.names import Holding, KeptByHook, LocalName, TensorName
from inplace_magic.record.places import Callsite, Whose
from inplace_magic.record.trace import Trace
from inplace_magic.source.spots import Top, names_in, run_once, tops


@dataclass(frozen=True)
class KnownNames:
    """What is known of the names in a trace, each part made when it is first asked for."""

    trace: Trace

    @cached_property
    def bindings(self) -> Bindings:
        return Bindings.from_trace(self.trace, self.names, self._inner_names)

    @cached_property
    def rebindings(self) -> tuple[Rebinding, ...]:
        """Every rebinding that could be told, in the order in which they happened."""
        return rebindings(self.trace, self.bindings)

    @cached_property
    def aliases(self) -> Aliases:
        """The second names."""
        return Aliases(self.trace, self.bindings)

    @cached_property
    def names(self) -> dict[int, list[str]]:
        """Every name by which the user's namespace reaches a tensor, by tensor."""
        entries: tuple[TensorName | LocalName, ...] = (*self.trace.names, *self._inner_names)
        named = grouped((entry.tensor, entry.name) for entry in entries)
        return {tensor: list(dict.fromkeys(names)) for tensor, names in named.items()}

    @cached_property
    def _inner_names(self) -> list[LocalName]:
        """Those of functions that ran once."""
        return names_in(self.trace, self.run_once) if self.trace.local_names else []

    @cached_property
    def best_names(self) -> dict[int, str]:
        """The best display name of every tensor that has one."""
        met = {meta.tensor for call in self.trace.calls for meta in (*call.inputs, *call.outputs, *call.mutated)}
        return {tensor: name for tensor in sorted(met) if (name := self.bindings.name(tensor)) is not None}

    @cached_property
    def local_names(self) -> dict[tuple[Whose, int], list[str]]:
        """The names by which each function reached a tensor, by function and tensor."""
        return grouped(((local.whose, local.tensor), local.name) for local in self.trace.local_names)

    @cached_property
    def holdings(self) -> dict[int, list[Holding]]:
        """What was seen to hold the tensors that a call wrote, or read after that, by the call."""
        return grouped_by(attrgetter("call"), self.trace.holdings)

    @cached_property
    def holdings_of(self) -> dict[int, list[Holding]]:
        """The same by tensor."""
        return grouped_by(attrgetter("tensor"), self.trace.holdings)

    @cached_property
    def kept_by_hooks(self) -> dict[int, list[KeptByHook]]:
        """What containers of forward hooks held, by the call that wrote it."""
        return grouped_by(attrgetter("write"), self.trace.kept_by_hooks)

    @cached_property
    def run_once(self) -> dict[Whose, Callsite]:
        """The functions whose lines ran by themselves and once, and a place in each."""
        return run_once(self.trace)

    @cached_property
    def tops(self) -> list[Top]:
        """The lines of :attr:`run_once`."""
        return tops(self.trace, self.run_once)
