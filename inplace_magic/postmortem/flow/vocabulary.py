"""PyTorch's words in a program's text: what gives a view, what computes nothing, and which nodes a function makes.

The words stand in ``vocabulary.txt``. The nodes are those of tools/autograd/derivatives.yaml; a function without an
entry makes the node of its own name: ``torch.log_softmax`` ``LogSoftmaxBackward0``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path


def _sections() -> dict[str, str]:
    """Return the parts of the list, by their titles; a line that is indented goes on with the one before."""
    text = Path(__file__).with_name("vocabulary.txt").read_text(encoding="utf-8").replace("\n  ", " ")
    parts = re.split(r"^\[(.+)\]\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _table(section: str) -> dict[str, list[str]]:
    """What stands behind the colon, for each word before it."""
    rows = [line.split(":") for line in section.splitlines() if line]
    return {word: made.split() for words, made in rows for word in words.split()}


_SECTIONS = _sections()
VIEWS = frozenset(_SECTIONS["views"].split())
SAME = frozenset(_SECTIONS["same"].split())
"""What gives the tensor itself, or memory of which nothing matters, and counts no write."""
MAYBE_VIEWS = frozenset(_SECTIONS["maybe views"].split())
"""A view or a copy, as the tensor is."""
FACTORIES = frozenset(_SECTIONS["factories"].split())
"""What makes new memory, with ``new_`` or ``_like`` also of the kind of another tensor's; no node stands for it."""
QUERIES = frozenset(_SECTIONS["queries"].split())
PLAIN_ATTRIBUTES = frozenset(_SECTIONS["plain attributes"].split())
UNCOUNTED = frozenset(("requires_grad_", "retain_grad_", "share_memory_", "rename_", "detach_", "manual_seed_"))
"""Methods with the underscore of a write that move no version."""
OPERATORS = {
    "Add": ("Add",),
    "Sub": ("Sub", "Rsub"),
    "Mult": ("Mul",),
    "Div": ("Div", "Reciprocal", "Mul"),
    "FloorDiv": ("FloorDivide",),
    "Mod": ("Remainder", "Fmod"),
    "Pow": ("Pow", "Exp", "Exp2"),
    "MatMult": ("Mm", "Bmm", "Mv", "Dot", "UnsafeView", "Addmm", "Squeeze", "Matmul"),
}
"""Nodes of an operator, by the name of its class in ``ast``; those of bits make none."""
OPERATOR_FUNCTIONS = {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mult",
    "truediv": "Div",
    "pow": "Pow",
    "matmul": "MatMult",
    "mod": "Mod",
    "floordiv": "FloorDiv",
}
"""Operators by their function in ``operator``; with an ``i`` before its name it writes its first argument."""
KEEP_NOTHING = frozenset(("Add", "Sub", "Rsub", "Neg", "Zero", "Fill", "Copy", "CopyBackwards", "CopySlices"))
"""Nodes that keep no tensor."""
SETITEM = frozenset(("CopySlices", "IndexPut", "Copy", "Fill", "MaskedFill", "IndexFill"))
"""Nodes of ``x[i] = y``."""


def own_node(name: str) -> frozenset[str]:
    """Return the node that is named like a function: ``LogSoftmax`` of ``log_softmax``."""
    return frozenset(("".join(part[:1].upper() + part[1:] for part in name.split("_")),))


NODES: dict[str, frozenset[str]] = {
    **{name: own_node(name) for name in _SECTIONS["nodes of their own name"].split()},
    **{name: frozenset(made) for name, made in _table(_SECTIONS["nodes"]).items()},
}
"""Nodes by the name of a function or method that makes none but these."""
_LAYERS = {layer: made[0] for layer, made in _table(_SECTIONS["layers"]).items()}
"""The function that a layer of ``torch.nn`` calls."""


@lru_cache(maxsize=1024)
def nodes_of(name: str) -> frozenset[str]:
    """Return the nodes that a function or method of this name makes, without ``Backward0``."""
    bare = name.strip("_").removeprefix("foreach_") or name
    return NODES.get(bare) or own_node(bare)


def layer_nodes(layer: str) -> frozenset[str] | None:
    """Return the nodes that a layer of this class makes; None: any."""
    return nodes_of(_LAYERS[layer]) if layer in _LAYERS else None


def bare_node(name: str) -> str:
    """``Sigmoid`` of ``SigmoidBackward0``."""
    return re.sub(r"Backward(s|\d*)$", "", name)


IN_PLACE_SECOND = frozenset(("relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid"))
"""Functions of ``torch.nn.functional`` whose second argument is ``inplace``; others have it by its name, or where
their signature says."""
