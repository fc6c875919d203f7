"""Which classes of tensors level ``ops`` would keep from being made.

``class Noise(torch.Tensor): …`` and ``Noise(torch.randn(3))``: under any dispatch mode PyTorch refuses to make the one
from the other, since the mode has given it a Python object already. A class with a ``__new__`` of its own makes its
objects in another way.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator


def made_of_a_tensor(source: str) -> list[str]:
    """Return the names of such classes that a text calls: of those that exist, and of those that it defines."""
    defined = _defined(source)
    existing = (name for name in _existing() if name not in defined)
    plain = {*existing, *(name for name, has_new in defined.items() if not has_new)}
    return sorted(name for name in plain if re.search(rf"(?<!class )\b{name}\(", source))


def _existing() -> Iterator[str]:
    if "torch" not in sys.modules:
        return
    import torch

    tensor: type = torch.Tensor
    for each in _below(tensor):
        if each.__module__.partition(".")[0] != "torch" and each.__new__ is tensor.__new__:
            yield each.__name__


def _below(cls: type) -> Iterator[type]:
    each: type
    for each in cls.__subclasses__():
        yield each
        yield from _below(each)


def _defined(source: str) -> dict[str, bool]:
    """Return the classes of tensors that a text defines, and whether each has a ``__new__`` of its own."""
    if "Tensor" not in source or "class " not in source:
        return {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user hears what Python says of this text
            tree = ast.parse("\n".join(f"# {row}" if row.lstrip()[:1] in "%!" else row for row in source.split("\n")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    of_tensors = [node for node in classes if {"torch.Tensor", "Tensor"} & {ast.unparse(base) for base in node.bases}]
    return {node.name: "__new__" in [getattr(each, "name", "") for each in node.body] for node in of_tensors}
