"""Words of the framework in a program's text: methods and attributes of tensors that reading source needs.

The record has the effect of a call. These words are for expressions without a recorded call, such as ``a.data`` as an
operand, or for names bound before the watch began.
"""

from __future__ import annotations

NOT_ALWAYS_COPIES = frozenset(
    (
        *("detach", "cpu", "to", "type", "contiguous", "float", "double", "half", "bfloat16", "long", "int", "bool"),
        *("type_as", "cuda", "conj"),
    )
)
"""Methods that many take for copies: ``detach`` makes none, the others none where nothing is to be converted
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html: "Otherwise, self is returned")."""

ALIASING = frozenset(
    (
        *("detach", "view", "view_as", "reshape", "flatten", "squeeze", "unsqueeze", "transpose", "permute"),
        *("expand", "expand_as", "narrow", "select", "t", "contiguous", "requires_grad_"),
    )
)
"""Methods that return a tensor on the same memory, so that a write into it writes its owner."""

ALIASING_ATTRIBUTES = frozenset(("data", "T", "mT"))
"""Attributes that do so."""

WITHOUT_VALUES = frozenset(
    (
        *("shape", "size", "dtype", "device", "ndim", "dim", "numel", "layout", "stride", "requires_grad"),
        "is_leaf",
    )
)
"""Methods and attributes of a tensor that do not depend on its values."""

ARRAY_WRITERS = frozenset(
    ("fill_diagonal", "copyto", "put", "place", "putmask", "put_along_axis", "shuffle", "nan_to_num", "fill", "sort")
)
"""Functions and methods of NumPy that write their first argument, or a method's array
(https://numpy.org/doc/stable/reference/generated/numpy.fill_diagonal.html and the pages beside it). ``nan_to_num`` does
so with ``copy=False``; a function with ``out=`` writes that."""

BUFFER_FILLERS = frozenset(("readinto", "readinto1", "recv_into", "recvfrom_into"))
"""Methods of streams and sockets that fill their argument
(https://docs.python.org/3/library/io.html#io.RawIOBase.readinto)."""
