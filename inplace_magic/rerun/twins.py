"""Copies of a program's state, in place of the originals for one run.

The user's objects are only read. While a run lasts, its variables hold deep copies, made with one memo so that what was
shared stays shared; afterwards every variable holds its original again.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType
from typing import Any
from weakref import ref

import torch

from inplace_magic.capture.torch import describe, describe_memory, describe_nodes
from inplace_magic.errors import CopyError
from inplace_magic.language import _
from inplace_magic.record.grouped import grouped
from inplace_magic.rerun.memory import same_content, too_little_room
from inplace_magic.rerun.settings import generators, same_settings
from inplace_magic.rerun.state import MISSING, Place, State, find_state, is_atom, is_shells_own


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies for one run."""

    places: list[tuple[Place, Any]]
    roots: tuple[Any, ...]
    refused: dict[str, str]
    """Names of the notebook that cannot be copied, and why; the run goes on without them."""
    tensors: tuple[tuple[ref[torch.Tensor], ref[torch.Tensor]], ...]
    """Each copied tensor after its original, without keeping either alive."""

    def began(self) -> dict[int, torch.Tensor]:
        """Return the original of each living copy, by the copy's id."""
        return {id(copied): original for original, copied in _alive(self)}


def copy_state(state: State, roots: tuple[Any, ...], namespace: dict[str, Any] | None) -> Copies:
    """Copy everything that the search found.

    Args:
        namespace: the notebook's. A name of it that cannot be copied is left out of the run: the cell may well assign
            it before it reads it.

    Raises:
        CopyError: something else cannot be copied; the text says what and what to do.
    """
    _refuse_shared_arrays(state, namespace)
    refused: dict[str, str] = {}
    while True:
        memo = _memo(state)
        given = _copy(_("the argument"), roots, memo)
        places: list[tuple[Place, Any]] = []
        for place in state.places:
            if place.holder is namespace and place.label in refused:
                continue
            try:
                places.append((place, _copy(f"`{place.label}`", place.value, memo)))
            except CopyError as refusal:
                if namespace is None or place.holder is not namespace:
                    raise
                refused[place.label] = str(refusal)
                break  # its half-made copy is in the memo: begin anew without it
        else:
            _complete_optimizers(state, memo)
            _hang_hooks(state, memo)
            pairs = [(each, memo[id(each)]) for each in state.tensors if memo.get(id(each), each) is not each]
            return Copies(places, given, refused, tuple((ref(each), ref(copied)) for each, copied in pairs))


def share_unchanged(copies: Copies) -> None:
    """Lets copies whose originals still hold the same bytes lie in the memory of those: for copies that are copied
    again and never written, such as those of before a cell ran, which else would hold its data and frozen weights
    twice. The originals may not be written while these copies are in use."""
    by_memory = grouped((describe_memory.storage_address(describe.storage(pair[1])), pair) for pair in _alive(copies))
    for address, pairs in by_memory.items():
        if address and all(same_content(original, copied) for original, copied in pairs):
            for original, copied in pairs:
                copied.data = original.data


def _alive(copies: Copies) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for each in copies.tensors:
        original, copied = each[0](), each[1]()
        if original is not None and copied is not None:
            yield original, copied


def _refuse_shared_arrays(state: State, namespace: dict[str, Any] | None) -> None:
    """Copies of an array and of a tensor do not share memory, so a program that relies on it would run wrongly."""
    for array in state.arrays:
        begin = array.__array_interface__["data"][0]
        for tensor in state.tensors:
            storage = describe.storage(tensor)
            address = describe_memory.storage_address(storage)
            if array.nbytes and address and address < begin + array.nbytes and begin < address + storage.nbytes():
                refused = CopyError(
                    _(
                        "A NumPy array ({shape}) shares its memory with a tensor; copies of them would not. Make one "
                        "of them inside the compared code."
                    ).format(shape=_sizes(array.shape))
                )
                holders = [place for place in state.places if place.holder is namespace and place.value is array]
                refused.variable = holders[0].label if holders else None
                raise refused


def _copy(label: str, value: Any, memo: dict[int, Any]) -> Any:
    if value is MISSING or is_atom(value):
        return value
    try:
        return copy.deepcopy(value, memo)
    except Exception as error:  # whatever a class raises when it refuses to be copied
        raise CopyError(_sentence(label, value, error)) from error


def _sentence(label: str, value: Any, error: Exception) -> str:
    if isinstance(value, torch.Tensor) and describe.grad_fn(value) is not None:
        return _(
            "{value} cannot be copied: it is a result with a graph ({shape}, {node}), and a copy would not belong to "
            "that graph. Make it inside the compared code, or detach it."
        ).format(value=label, shape=_sizes(value.shape), node=describe_nodes.node_name(value.grad_fn))
    reason = " ".join(str(error).split()) or type(error).__name__
    text = _("{value} ({type}) cannot be copied: {reason}. Make it inside the compared code instead.")
    return text.format(value=label, type=type(value).__name__, reason=reason.rstrip("."))


def _sizes(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) or "scalar"


def _memo(state: State) -> dict[int, Any]:
    """Return a memo for ``deepcopy`` with the objects that it refuses or copies wrongly: modules and locks, generators,
    views (their copies would not share the version counter of their base), and methods of C (which would belong to the
    original).

    Raises:
        CopyError: what a method belongs to cannot be copied.
    """
    memo: dict[int, Any] = {id(value): value for value in state.shared}
    for generator in state.generators:
        memo[id(generator)] = generator
        if generator is not torch.default_generator:
            memo[id(generator)] = torch.Generator(device=generator.device).set_state(generator.get_state())
    for tensor in state.tensors:
        base = describe.base(tensor)
        if type(tensor) is torch.Tensor and base is not None and not tensor.requires_grad and not base.requires_grad:
            layout = tensor.size(), tensor.stride(), tensor.storage_offset()
            memo[id(tensor)] = _as_type_of(tensor, copy.deepcopy(base, memo)).as_strided(*layout)
    for method in state.bound:
        memo[id(method)] = getattr(_copy(f"`{method.__name__}`", method.__self__, memo), method.__name__)
    return memo


def _as_type_of(tensor: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    """Return a view of a base with elements of the type of another view, such as the real numbers of complex ones."""
    if tensor.dtype == base.dtype:
        return base
    whole = base.as_strided((base.untyped_storage().nbytes() // base.element_size(),), (1,), 0)
    return whole.view(tensor.dtype)


def _complete_optimizers(state: State, memo: dict[int, Any]) -> None:
    """Give copied optimizers the attributes that ``Optimizer.__getstate__`` leaves out: those of a subclass, and hooks.

    What hides a method of the class stays out, as a scheduler's ``step``, which is bound to the original.

    Raises:
        CopyError: an attribute cannot be copied.
    """
    done: set[int] = set()
    own = [each for each in state.optimizers if type(each).__getstate__ is torch.optim.Optimizer.__getstate__]
    while new := [each for each in own if id(each) in memo and id(each) not in done]:
        for optimizer in new:  # an attribute may bring more copies, as that of an optimizer around another one
            done.add(id(optimizer))
            pickled = optimizer.__getstate__()
            for name, value in list(vars(optimizer).items()):
                if name in pickled or hasattr(type(optimizer), name):
                    continue
                vars(memo[id(optimizer)])[name] = _copy(f"`{type(optimizer).__name__}.{name}`", value, memo)


def _hang_hooks(state: State, memo: dict[int, Any]) -> None:
    """Hangs copies of the hooks of tensors, which ``deepcopy`` leaves out, on their copies; as PyTorch does when it
    reads a saved parameter (``torch._utils._rebuild_parameter``).

    Raises:
        CopyError: a hook cannot be copied.
    """
    done: set[int] = set()
    while new := [each for each in state.tensors if memo.get(id(each), each) is not each and id(each) not in done]:
        for tensor in new:  # the object of a hook may bring more copies
            done.add(id(tensor))
            try:
                for name, hooks in describe.tensor_hooks(tensor).items():
                    setattr(memo[id(tensor)], name, copy.deepcopy(hooks, memo))
            except Exception as error:  # whatever a class raises when it refuses to be copied
                text = _("A tensor ({shape}) cannot be copied with the hooks registered on it. Remove them.")
                raise CopyError(text.format(shape=_sizes(tensor.shape))) from error


@contextmanager
def in_place(copies: Copies, namespace: dict[str, Any] | None) -> Iterator[None]:
    """For one run, bind the variables to the copies.

    In the notebook's namespace only the copies, functions, classes, modules and the shell's own names are left, so that
    a variable which the search did not foresee is missing and not the user's own.
    """
    before = dict(namespace) if namespace is not None else {}
    try:
        if namespace is not None:
            for name, value in before.items():
                if not is_shells_own(name, value) and not is_atom(value):
                    del namespace[name]
        for place, value in copies.places:
            place.put(value)
        yield
    finally:
        for place, _value in copies.places:
            place.put(place.value)
        if namespace is not None:
            _restore(namespace, before)


def _restore(namespace: dict[str, Any], before: dict[str, Any]) -> None:
    for name in list(namespace):
        if name not in before:
            del namespace[name]
    for name, value in before.items():
        if namespace.get(name, MISSING) is not value:
            namespace[name] = value
    if list(namespace) != list(before):
        namespace.clear()
        namespace.update(before)


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
