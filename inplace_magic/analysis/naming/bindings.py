"""Names: what the user's code calls a tensor, at the line where it matters.

The name at the writing line wins (``active[mask] = 0`` wrote ``active``, though ``gate`` shares its memory). In a
helper the name is a parameter, and the caller's name for the same tensor says more: ``target.sub_(…)`` in
``error_rate(scores, target)`` wrote the caller's ``y``. Where library code made the write (an optimizer, a module),
the user's line has no name for the tensor; then the namespace does: ``D[2].weight``.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter, itemgetter

from inplace_magic.analysis.naming.held import bindings_of
from inplace_magic.analysis.remembered import remembered
from inplace_magic.record.events import CallEvent
from inplace_magic.record.grouped import grouped
from inplace_magic.record.names import LocalName
from inplace_magic.record.places import Callsite, Whose
from inplace_magic.record.trace import Trace
from inplace_magic.source import expressions
from inplace_magic.source.chains import argument_for, is_called_by_autograd
from inplace_magic.source.expressions import is_state, written_in

_PLACE = attrgetter("storage", "tensor")
_Operand = tuple[ast.expr | None, str | None]
"""What a line hands to the call that writes, and its text."""


@dataclass(frozen=True)
class Bindings:
    """All that is known of names in one trace."""

    namespace: dict[int, str] = field(default_factory=dict)
    """Best name in the user's namespace at the end, by tensor; else the one in a function that ran once."""
    owners: dict[str, int] = field(default_factory=dict)
    """Tensor by name, for every name in the namespace."""
    local: dict[tuple[Whose, str], int] = field(default_factory=dict)
    """The same for the names in functions that ran once, by function and name."""
    bound: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    """(function, name) by tensor: what assignments bound it, oldest first."""
    scopes: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)
    """(call, tensor) by function and name: what assignments bound the name to, oldest first."""
    seen: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)
    """The same of what the name was seen to hold, where no call's result tells it."""
    variables: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    """(function, name) by tensor: each variable that ever held it."""
    view_texts: frozenset[str] = frozenset()
    """Subscript expressions that took a view of a tensor (and not an item of a list)."""
    made_at: dict[int, Callsite] = field(default_factory=dict)
    """The place whose call made a tensor."""
    by_storage: dict[int, list[int]] = field(default_factory=dict)
    """Tensors in the order in which they were met, by storage."""
    activations: frozenset[int] = frozenset()
    """Tensors that a module's ``forward`` made."""
    _operands: dict[tuple[int, int], _Operand] = field(default_factory=dict, compare=False, repr=False)
    """What :meth:`written_operand` found, by call and tensor, and its text."""

    @classmethod
    def from_trace(cls, trace: Trace, names: Mapping[int, list[str]], inner: Iterable[LocalName]) -> Bindings:
        """Reads the names off a trace.

        Args:
            names: all names of each tensor in the user's namespace and in functions that ran once, the best one first.
            inner: those of the functions.
        """
        owners = {each.name: each.tensor for each in reversed(trace.names)}
        local = {(each.whose, each.name): each.tensor for each in inner}
        assigned = [(entry, entry.place.function) for entry in bindings_of(trace) if entry.how == "assigned"]
        bound = grouped((entry.tensor, (function, entry.target)) for entry, function in assigned)
        scopes = grouped(((function, entry.target), (entry.call, entry.tensor)) for entry, function in assigned)
        seen = grouped(((each.place.function, each.target), (each.call, each.tensor)) for each in trace.bindings)
        holding = ((each.tensor, (each.place.function, each.target)) for each in trace.bindings)
        assigning = ((entry.tensor, (function, entry.target)) for entry, function in assigned)
        variables = grouped(pair for pair in dict.fromkeys((*assigning, *holding)) if pair[1][1].isidentifier())
        namespace = {tensor: known[0] for tensor, known in names.items()}
        for tensor, given in bound.items():
            kept = [name for _function, name in given if name in names.get(tensor, ())] if len(given) > 1 else []
            if kept:
                namespace[tensor] = kept[0]  # of several names that it still has, the one that it was given first
        met = chain.from_iterable([group for call in trace.calls for group in (call.inputs, call.outputs)])
        by_storage = grouped(place for place in dict.fromkeys(map(_PLACE, met)) if place[0] is not None)
        placed = ((call, call.callsite) for call in reversed(trace.calls) if call.callsite is not None)
        made = {output.tensor: (call, site) for call, site in placed for output in call.outputs}
        made_at = {tensor: site for tensor, (_call, site) in made.items()}
        activations = frozenset([t for t, (call, _site) in made.items() if call.modules and call.kind == "ordinary"])
        items = [call.callsite for call in trace.calls if "gives item" in call.traits]
        nodes = map(expressions.parse, {site.expression for site in items if site is not None})
        texts = frozenset(ast.unparse(node) if node is not None else "" for node in nodes)
        return cls(namespace, owners, local, bound, scopes, seen, variables, texts, made_at, by_storage, activations)

    def bound_last(self, function: str, name: str, before: int) -> tuple[int, int] | None:
        """(call, tensor) of what a name of a function was bound to last before a call; None where nobody saw it."""
        found = None
        for bound in (self.scopes.get((function, name), ()), self.seen.get((function, name), ())):
            last = bisect_left(bound, before, key=itemgetter(0)) - 1
            if last >= 0 and (found is None or bound[last][0] >= found[0]):
                found = bound[last]
        return found

    def names_held(self, function: str, tensor: int, call: int) -> set[str]:
        """Return the variables of a function that held a tensor when a call had returned."""
        ever = (name for of, name in self.variables.get(tensor, ()) if of == function)
        now = ((name, self.bound_last(function, name, call + 1)) for name in ever)
        return {name for name, held in now if held is not None and held[1] == tensor}

    def name(self, tensor: int) -> str | None:
        """Return the best name of a tensor anywhere: the namespace's, else the one that an assignment gave it last."""
        found = self.namespace.get(tensor)
        if found is not None:
            return found
        bound = self.bound.get(tensor)
        return bound[-1][1] if bound else None

    def written_name(self, call: CallEvent, tensor: int) -> str | None:
        """What the writing line calls the tensor that it wrote."""
        site = call.callsite
        if site is None:
            return self.name(tensor)
        node = self.written_operand(call, tensor)
        text = expressions.path_text(node)
        if node is not None and text is not None:
            return self._owner_name(text, node, site, tensor)
        return self._said_by_a_line(site, tensor) or self.name(tensor) or self._name_of_memory(call, tensor)

    def _said_by_a_line(self, site: Callsite, tensor: int) -> str | None:
        """`model.weight` for ``model.load_state_dict(best)`` in a function that ran once: the namespace may have other
        names for it, such as where the function's result was put later on."""
        names = [(of, name) for (of, name), held in self.local.items() if held == tensor]
        for place in reversed(site.chain) if names else ():
            said = expressions.variables_in(expressions.parse(place.statement))
            for of, name in names:
                if of == place.whose and expressions.root_name(expressions.parse(name)) in said:
                    return name
        return None

    def _name_of_memory(self, call: CallEvent, tensor: int) -> str | None:
        """For a view that torch made on the way (for a backward hook), the name of the tensor that it is a view of."""
        storage = next((m.storage for m in (*call.inputs, *call.mutated) if m.tensor == tensor), None)
        names = map(self.name, self.by_storage.get(storage, ()) if storage is not None else ())
        return next((name for name in names if name is not None), None)

    def written_path(self, call: CallEvent, tensor: int) -> str | None:
        """Return the same as text: ``self.memory``; None where the line has no variable for what it wrote."""
        known = self._operands.get((call.index, tensor))
        return (known or self._operand_of(call, tensor))[1]

    def written_operand(self, call: CallEvent, tensor: int) -> ast.expr | None:
        """Return the variable, as an expression, that the writing line hands to the writing call; None where the line
        has none."""
        known = self._operands.get((call.index, tensor))
        return (known or self._operand_of(call, tensor))[0]

    def written_as(self, call: CallEvent, tensor: int) -> str | None:
        """What the writing line calls the very tensor that it writes: ``b[0]`` of ``b[0].zero_()``; None where it has
        no such text for it."""
        site = call.callsite
        if site is None or is_state(call, tensor):
            return None
        node = written_in(call, site.expression, tensor, direct=site.direct)
        text = expressions.path_text(node) if node is not None else None
        return text if text is not None and self._plausible(text, site, tensor, call.index) else None

    def _operand_of(self, call: CallEvent, tensor: int) -> _Operand:
        site = call.callsite
        found: _Operand = None, None
        node = written_in(call, site.expression, tensor, direct=site.direct) if site is not None else None
        if site is not None and node is not None and not is_state(call, tensor):
            node = expressions.without_aliasing(node, self.view_texts)
            text = expressions.path_text(node)
            if text is not None and self._plausible(text, site, tensor, call.index):
                found = node, text
        self._operands[call.index, tensor] = found
        return found

    def _plausible(self, text: str, site: Callsite, tensor: int, call: int) -> bool:
        """True if the line's text for the first operand names the written tensor. For a direct call it does; for one
        made by library code inside the line only if nothing speaks against it."""
        if site.direct:
            return True
        bound = self.bound_last(site.function, text, call)
        if bound is not None:
            return bound[1] == tensor
        if self.named(site, text) is not None:
            return self.named(site, text) == tensor
        inside = self.namespace.get(tensor, "")
        if "." in text and inside.rpartition(".")[2] == text.rpartition(".")[2]:
            return True  # `self.weight` in the class, `fuse.weight` outside
        made = self.made_at.get(tensor)
        made_here = made is not None and (made.line, made.expression) == (site.line, site.expression)
        if text not in site.parameters or made_here:
            return False
        return tensor not in self.namespace or self._handed_in(text, site, tensor)

    def _handed_in(self, text: str, site: Callsite, tensor: int) -> bool:
        """True if a parameter is the cell's own name for the tensor, handed on from call to call."""
        if text not in site.parameters or site.caller is None:
            return False
        path = expressions.path_text(argument_for(site, text))
        if path is None:
            return False
        named = self.named(site.caller, path)
        if named is not None or site.caller.function == "<module>":
            return named == tensor
        return self._handed_in(path, site.caller, tensor)

    def named(self, site: Callsite, name: str) -> int | None:
        """Return the tensor that a name stands for in the lines of a place, as last seen; None where that is not
        known."""
        return self.owners.get(name) if site.function == "<module>" else self.local.get((site.whose, name))

    def stood_for(self, site: Callsite, name: str, before: int) -> int | None:
        """Return the tensor that a name stood for before a call, in the lines of a place: what it was bound to last,
        else what it stands for as last seen; None where neither is known."""
        bound = self.bound_last(site.function, name, before)
        return bound[1] if bound is not None else self.named(site, name)

    def is_handed_by(self, place: Callsite, path: str, tensor: int) -> bool:
        """True if a tensor can be an argument of a line, by the path that the line says: not one that was made while
        the line ran. What a layer in the middle of an ``nn.Sequential`` gets is not what the ``Sequential`` got."""
        if tensor in self._ever_bound(place.function, path):
            return True  # what an earlier pass of a loop made there
        made = self.made_at.get(tensor)
        return made is None or not any(_is_one_expression(each, place) for each in made.chain)

    @remembered
    def _ever_bound(self, function: str, name: str) -> frozenset[int]:
        """Return the tensors that assignments bound a name of a function to."""
        return frozenset(tensor for _, tensor in self.scopes.get((function, name), ()))

    def _is_kept_aside(self, name: str, site: Callsite, tensor: int) -> bool:
        """True if a hook put a layer's output under this attribute: no line on the way to the write says the name, so
        the write did not go by it."""
        attribute = name.rpartition(".")[2]
        return tensor in self.activations and attribute.isidentifier() and "." in name and not _says(site, attribute)

    def _owner_name(self, text: str, node: ast.expr, site: Callsite, tensor: int) -> str:
        """Of a bare parameter, the caller's name for it."""
        is_parameter = isinstance(node, ast.Name) and text in site.parameters and text not in ("self", "cls")
        if not is_parameter or (site.function, text) in self.scopes or site.caller is None:
            return text
        if is_called_by_autograd(site):
            return text
        outside = self.namespace.get(tensor)
        if outside is not None and not self._is_kept_aside(outside, site, tensor):
            return outside
        argument = argument_for(site, text)
        if argument is None:
            return text
        argument = expressions.without_aliasing(argument, self.view_texts)
        path = expressions.path_text(argument)
        if path is None or not self.is_handed_by(site.caller, path, tensor):
            return text
        return self._owner_name(path, argument, site.caller, tensor)


def _says(site: Callsite, attribute: str) -> bool:
    """True if a line, or one that led to it, says an attribute."""
    said = re.compile(rf"\.{re.escape(attribute)}\b")
    return any(said.search(place.statement or place.text) for place in site.chain)


def _is_one_expression(one: Callsite, other: Callsite) -> bool:
    """True if both are one expression of one run of a line, whoever made the call there."""
    same = (one.column, one.expression) == (other.column, other.expression)
    return same and one.same_line(other) and one.same_run(other)
