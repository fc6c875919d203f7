"""Batches for the model families: random, tiny, with the labels as a training loop would make them."""

from __future__ import annotations

from typing import Any

import torch

Batch = dict[str, Any]

VOCABULARY, LENGTH, ROWS = 64, 12, 2


def words() -> torch.Tensor:
    return torch.randint(3, VOCABULARY, (ROWS, LENGTH))


def next_words() -> Batch:
    """Token ids that are their own labels, as every causal language model is trained; the model shifts them."""
    ids = words()
    mask = torch.ones_like(ids)
    mask[1, -3:] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


def routed_words() -> Batch:
    """The same for a mixture of experts, whose routers' balance is part of the loss."""
    return {**next_words(), "output_router_logits": True}


def masked_words() -> Batch:
    """Masked language modelling: the labels are copied before the inputs are masked in place."""
    ids = words()
    labels = ids.clone()
    masked = torch.rand(ids.shape) < 0.3
    masked[:, 0] = True
    labels[~masked] = -100
    ids[masked] = 3
    return {"input_ids": ids, "labels": labels}


def classified_words() -> Batch:
    return {"input_ids": words(), "labels": torch.randint(0, 2, (ROWS,))}


def translated_words() -> Batch:
    return {"input_ids": words(), "labels": words()}


def classified_images() -> Batch:
    return {"pixel_values": torch.randn(ROWS, 3, 32, 32), "labels": torch.randint(0, 4, (ROWS,))}


def boxed_images() -> Batch:
    """Detection: the labels are a list of dictionaries, one per image."""
    boxes = torch.rand(ROWS, 3, 4) * 0.4 + 0.1
    labels = [{"class_labels": torch.randint(0, 4, (3,)), "boxes": box} for box in boxes]
    return {"pixel_values": torch.randn(ROWS, 3, 64, 64), "labels": labels}


def segmented_images() -> Batch:
    return {"pixel_values": torch.randn(ROWS, 3, 32, 32), "labels": torch.randint(0, 4, (ROWS, 32, 32))}


def described_images() -> Batch:
    return {"input_ids": words(), "pixel_values": torch.randn(ROWS, 3, 32, 32), "return_loss": True}


def transcribed_waves() -> Batch:
    return {"input_values": torch.randn(ROWS, 400), "labels": torch.randint(1, 32, (ROWS, 5))}


def transcribed_spectra() -> Batch:
    return {"input_features": torch.randn(ROWS, 8, 40), "labels": words()}
