"""What is left out of the comparison, by name and with the reason; nothing else is."""

from __future__ import annotations

_UNINITIALISED = "gives memory that was never initialised; two unwatched runs differ as well"

VALUES_NOT_COMPARED: dict[str, str] = {
    "empty": _UNINITIALISED,
    "empty_like": _UNINITIALISED,
    "empty_permuted": _UNINITIALISED,
    "empty_strided": _UNINITIALISED,
    "new_empty": _UNINITIALISED,
    "new_empty_strided": _UNINITIALISED,
    "resize_": _UNINITIALISED,
    "resize_as_": _UNINITIALISED,
}
"""Their values are not compared; shapes, versions, RNG, errors and warnings are."""

CHANGED_BY_ANY_DISPATCH_MODE: dict[str, str] = {
    "prod[": "PyTorch's derivative of `prod` takes another formula under a dispatch mode; last bits differ",
    "masked.prod[": "PyTorch's derivative of `prod` takes another formula under a dispatch mode; last bits differ",
    "nn.CTCLoss[": "PyTorch picks another overload of `ctc_loss` under a dispatch mode; same numbers",
    "nn.functional.ctc_loss[": "PyTorch picks another overload of `ctc_loss` under a dispatch mode; same numbers",
}
"""Programs that level ``ops`` changes, and a dispatch mode that does nothing changes just so; by beginning of the
name."""

NOT_ON_CPU: dict[str, str] = {
    "torch.ops.aten._efficient_attention_forward": "supports no dtype on the CPU in PyTorch's operator database",
    "torch.ops.aten._flash_attention_forward": "supports no dtype on the CPU in PyTorch's operator database",
    "nn.functional.batch_norm.without_cudnn": "supports no dtype on the CPU in PyTorch's operator database",
}
"""Operators without a program here; a test holds this table against the database."""
