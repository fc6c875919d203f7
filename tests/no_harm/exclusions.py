"""What is left out of the comparison, by name and with the reason; nothing else is."""

from __future__ import annotations

VALUES_NOT_COMPARED: dict[str, str] = {
    name: "gives memory that was never initialised; two unwatched runs differ as well"
    for name in (
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "resize_",
        "resize_as_",
    )
}
"""Their values are not compared; shapes, versions, RNG, errors and warnings are."""

REFUSED_INPUTS_NOT_COMPARED: dict[str, str] = {
    "kthvalue": "the database's own inputs that must be refused are `torch.empty`",
    "multinomial": "the database's own inputs that must be refused are `torch.empty`",
}
"""Operators whose error inputs hold uninitialised memory; all but the values is compared."""

CHANGED_BY_ANY_DISPATCH_MODE: dict[str, str] = {
    "masked.prod[": "PyTorch's derivative of `prod` takes another formula while a dispatch mode is active; last bits differ",
    "nn.functional.ctc_loss[": "PyTorch picks another overload of `ctc_loss`, with the same numbers, under a dispatch mode",
}
"""Programs that level ``ops`` changes, and a dispatch mode that does nothing changes just so. By beginning of the name."""

NOT_ON_CPU: dict[str, str] = {
    "torch.ops.aten._efficient_attention_forward": "supports no dtype on the CPU in PyTorch's operator database",
    "torch.ops.aten._flash_attention_forward": "supports no dtype on the CPU in PyTorch's operator database",
    "nn.functional.batch_norm.without_cudnn": "supports no dtype on the CPU in PyTorch's operator database",
}
"""Operators without a program here; a test holds this table against the database."""
