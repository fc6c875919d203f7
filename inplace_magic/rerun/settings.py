"""The state that every run must find the same and that the user must find unchanged: generators, torch's switches."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

Setting = tuple[Callable[[], Any], Callable[[Any], object]]


_SETTINGS: tuple[Setting, ...] = (
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_default_device, torch.set_default_device),
    (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    (torch.get_num_threads, torch.set_num_threads),
    (
        lambda: (torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()),
        lambda state: torch.use_deterministic_algorithms(state[0], warn_only=state[1]),
    ),
)
"""How to read each switch, and how to set it."""


@contextmanager
def same_settings() -> Iterator[None]:
    """Restores all generators (torch's on every device, Python's, NumPy's) and torch's global switches at the end, so
    that programs run one after another under this begin alike."""
    states = generators()
    switches = [(read(), read, write) for read, write in _SETTINGS]
    try:
        yield
    finally:
        for value, read, write in switches:
            if read() != value:
                write(value)
        for state, write in states:
            write(state)


@contextmanager
def attributes_set(holder: Any, **attributes: Any) -> Iterator[None]:
    """In this block, an object, a class or a module has these attributes."""
    before = {name: getattr(holder, name) for name in attributes}
    try:
        for name, value in attributes.items():
            setattr(holder, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(holder, name, value)


def generators() -> list[tuple[Any, Callable[[Any], object]]]:
    """Return the state of each generator, and how to set it."""
    found: list[tuple[Any, Callable[[Any], object]]] = [
        (random.getstate(), random.setstate),
        (torch.get_rng_state(), torch.set_rng_state),
    ]
    if cuda_is_used():
        found.append((torch.cuda.get_rng_state_all(), torch.cuda.set_rng_state_all))
    if torch.backends.mps.is_available():
        found.append((torch.mps.get_rng_state(), torch.mps.set_rng_state))
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found.append((numpy.random.get_state(), numpy.random.set_state))
    return found


def cuda_is_used() -> bool:
    """True if this process has begun to use CUDA; asking does not begin it."""
    return torch.cuda.is_available() and bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]
