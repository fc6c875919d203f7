"""A ``custom_op`` that writes counts as many versions at level `ops` as without a watch."""

from __future__ import annotations

import pytest
import torch

import inplace_magic

if not hasattr(torch.library, "custom_op"):
    pytest.skip("this PyTorch has no torch.library.custom_op", allow_module_level=True)


@torch.library.custom_op("inplace_magic_tests::twice", mutates_args={"x"})
def twice(x: torch.Tensor) -> None:
    x.mul_(2)
    x.add_(1)


@torch.library.custom_op("inplace_magic_tests::each", mutates_args={"xs"})
def each(xs: list[torch.Tensor], y: torch.Tensor) -> torch.Tensor:
    for x in xs:
        x.mul_(2)
    return y + 1


def versions() -> list[object]:
    left, right, y = torch.ones(3), torch.ones(3), torch.ones(2)
    twice(left)
    given = each([left, right], y)
    h = torch.ones(3, requires_grad=True).exp()
    twice(h)
    said = ""
    try:
        h.sum().backward()
    except RuntimeError as error:
        said = str(error)
    with torch.inference_mode():
        twice(right)
    return [left._version, right._version, y._version, given._version, said, left.tolist(), right.tolist()]


def test_the_versions_and_the_error_are_those_of_the_unwatched_run() -> None:
    plain = versions()

    with inplace_magic.watch(level="ops") as watched:
        seen = versions()

    assert seen == plain
    assert watched.report is not None
    assert watched.report.faults == []
