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

NOT_ON_CPU: dict[str, str] = {
    "torch._scaled_mm": "supports no dtype on the CPU in PyTorch's operator database",
    "torch._scaled_mm_v2": "supports no dtype on the CPU in PyTorch's operator database",
    "torch.ops.aten._efficient_attention_forward": "supports no dtype on the CPU in PyTorch's operator database",
    "torch.ops.aten._flash_attention_forward": "supports no dtype on the CPU in PyTorch's operator database",
    "nn.functional.batch_norm.without_cudnn": "supports no dtype on the CPU in PyTorch's operator database",
}
"""Operators without a program here; a test holds this table against the database."""
