"""Programs with right versions written by hand, and whether another version leaves what one of them leaves."""

from __future__ import annotations

import warnings
from typing import Any

import torch

State = dict[str, torch.Tensor]


def left_by(source: str) -> State | None:
    """The parameters, buffers and leaves that a program leaves under its names, with their gradients; None where it
    raises. Results on the way to them may have other names in another right version."""
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "program.py", "exec", dont_inherit=True), names)
    except Exception:  # whatever it raises, it did not come to its end
        return None
    state: State = {}
    for name, value in names.items():
        module = isinstance(value, torch.nn.Module)
        parts = value.state_dict(keep_vars=True) if module else {"": value}
        for part, tensor in parts.items():
            if isinstance(tensor, torch.Tensor) and (module or (tensor.is_leaf and tensor.requires_grad)):
                state[f"{name}.{part}"] = tensor.detach()
                if tensor.is_leaf and tensor.grad is not None:
                    state[f"{name}.{part}.grad"] = tensor.grad
    return state


def is_right(state: State, right: State) -> bool:
    """Whether a program left what a right version leaves, but for rounding."""
    return all(name in state and torch.allclose(state[name], value, 1e-4, 1e-6) for name, value in right.items())


def rights(case: dict[str, Any], source: str) -> list[State]:
    """What the right versions of a program leave, without what they bind for themselves."""
    found = []
    for edits in case["right"]:
        text = source
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        state = left_by(text)
        assert state is not None, "a right version raises"
        found.append(state)
    common = set.intersection(*(set(state) for state in found))
    return [{name: state[name] for name in sorted(common)} for state in found]
