"""The known figures of the block: the same compute for both, one allocation fewer for the twin."""

from __future__ import annotations

import re

import torch
from compare.blocks import twins

import inplace_magic


def test_the_table_of_macs_is_the_known_one_for_both_twins() -> None:
    plain, twin = twins(padding=1)
    result = inplace_magic.compare(plain, twin, inputs=torch.randn(1, 3, 224, 224), repeats=0)
    for variant in (result.first, result.second):
        assert variant.parameters == 280
        assert variant.costs is not None
        assert [(cost.cls, cost.operations) for cost in variant.costs] == [
            ("Conv2d", 14_049_280),
            ("InstanceNorm2d", 501_760),
            ("ReLU", 501_760),
        ]
        assert variant.operations == 15_052_800
        assert (variant.macs, variant.flops) == (13_547_520, 27_095_040)
        assert variant.uncounted == ()
    assert result.first.costs == result.second.costs
    text = result.to_text()
    assert "15,052,800 (0.015 GMac)" in text
    assert re.findall(r"[\d.]+ %", text) == ["93.3 %", "3.3 %", "3.3 %", "100.0 %"]
    assert "same compute" in result.verdict


def test_the_twin_allocates_one_result_less() -> None:
    plain, twin = twins()
    result = inplace_magic.compare(plain, twin, inputs=torch.randn(2, 3, 64, 64), repeats=0)
    assert (result.first.allocated_bytes, result.second.allocated_bytes) == (1_021_024, 713_504)
    assert result.first.allocations == (result.second.allocations or 0) + 1
    assert (result.first.peak_bytes or 0) - (result.second.peak_bytes or 0) == 307_520
    assert "1 allocation fewer (−300.3 KiB)" in result.verdict
    assert "same outputs and gradients" in result.verdict


def test_what_an_in_place_write_to_a_view_keeps_is_unknown_and_said_so() -> None:
    plain, twin = twins()
    result = inplace_magic.compare(plain, twin, inputs=torch.randn(2, 3, 8, 8), repeats=0)
    assert (result.first.saved_is_least, result.second.saved_is_least) == (False, True)
    assert "saved for backward" not in result.verdict
    assert any("CopySlices" in note for note in result.notes)
