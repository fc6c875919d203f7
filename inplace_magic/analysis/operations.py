"""Full names of the few calls that the indexes of a trace go by; what else operations do, the rules' own list says
(``hazards/operations.py``)."""

from __future__ import annotations

from inplace_magic.record.trace import NOT_ALWAYS_COPIES

DATA = "Tensor.data"
"""``t.data``: a tensor on the same memory with a version counter of its own."""
DATA_SETTER = "Tensor.data ="
"""``t.data = other``: the tensor gets the other one's memory, nothing is written."""
GET_ITEM = "Tensor.__getitem__"
"""``t[index]``."""
SET_ITEM = "Tensor.__setitem__"
"""``t[index] = values``."""
REGISTER_HOOK = "Tensor.register_hook"
"""The tensor's node runs the user's function in backward."""
HANDING_BACK = frozenset(f"Tensor.{name}" for name in NOT_ALWAYS_COPIES)
"""Many take them for copies; where they give a view, or the tensor itself, they made none."""
GIVING_OUT_MEMORY = frozenset(("numpy", "__array__", "__dlpack__", "to_dlpack"))
"""Without what they belong to: others than torch can write the memory from then on."""
