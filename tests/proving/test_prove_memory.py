"""How many copies of the variables are held while fixes are tried, counted in the tensors that are alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import torch
from cells import run_cell
from proving.trying import first

from inplace_magic.rerun.run import Runner
from inplace_magic.rerun.twins import Copies

COUNT = 100_000
SIZE = 8 * COUNT
"""Bytes of `data`, beside which everything else is small."""
LEFT_ALONE = "y = torch.sigmoid(x * data[:4])\ny.mul_(2)\ny.sum().backward()"
CHANGED = "data.add_(1)\n" + LEFT_ALONE
STEPPED = f"for _ in range(1):\n    opt.zero_grad()\n    {LEFT_ALONE}\n    opt.step()".replace("\ny", "\n    y")


def held() -> dict[int, int]:
    """Address and bytes of the memory that living tensors have."""
    gc.collect()
    found = {}
    for each in gc.get_objects():
        if type(each) in (torch.Tensor, torch.nn.Parameter) and each.layout == torch.strided:
            with suppress(NotImplementedError):  # what `torch.func` wraps has no memory of its own
                found[each.untyped_storage().data_ptr()] = each.untyped_storage().nbytes()
    return found


@pytest.fixture
def copies(ip: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[float, float]]]:
    """How many times `data` is held besides the user's own, before each run and when its copies are made."""
    run_cell(ip, f"data = torch.arange({COUNT})\nopt = torch.optim.SGD([x], lr=0.1)")
    found: list[tuple[float, float]] = []
    users, stage = held(), Runner.stage
    gc.freeze()  # what is there already is not looked at again; the next test's freezing includes it

    def more() -> float:
        return sum(size for address, size in held().items() if address not in users) / SIZE

    @contextmanager
    def counting(self: Runner) -> Iterator[Copies]:
        between = more()
        with stage(self) as copied:
            found.append((between, more()))
            yield copied

    monkeypatch.setattr(Runner, "stage", counting)
    yield found
    gc.unfreeze()


PROVE = "%%inplace_watch --prove -o report\n"


@pytest.mark.parametrize(
    ("how", "cell", "kept"), [(PROVE, LEFT_ALONE, 0), (PROVE, STEPPED, 0), (PROVE, CHANGED, 1), ("", LEFT_ALONE, 0)]
)
def test_one_copy_at_a_time_and_one_more_of_what_the_cell_changed(
    ip: Any, copies: list[tuple[float, float]], how: str, cell: str, kept: int
) -> None:
    """Only what the cell changed has a second copy: what it held before, from which each run begins."""
    run_cell(ip, how + cell)
    if not how:
        run_cell(ip, "%inplace_why -o report")

    assert first(ip.user_ns["report"]).proof.verdict == "proven"  # type: ignore[union-attr]
    assert len(copies) >= 4
    compared = cell == CHANGED  # of a candidate with other numbers all that the one run left is held for the other
    more = [within - between for between, within in copies]
    assert all(0.9 < each < 1.1 for each in more), "each run has one copy"
    assert sum(between > kept + 0.1 for between, _within in copies) <= compared
    assert max(between for between, _within in copies) < kept + compared + 0.1


def test_afterwards_nothing_is_held(ip: Any) -> None:
    run_cell(ip, f"data = torch.arange({COUNT})")
    before = sum(held().values())
    run_cell(ip, PROVE + CHANGED)
    assert first(ip.user_ns["report"]).proof is not None
    assert before > 0.9 * SIZE
    assert sum(held().values()) - before < 0.1 * SIZE


def test_what_the_cell_left_alone_lies_in_the_users_memory_and_is_not_written(ip: Any) -> None:
    run_cell(ip, "z = torch.ones(3, requires_grad=True)\nseen = torch.zeros(3)")
    cell = "y = torch.sigmoid(z + seen)\ny.mul_(2)\nseen_again = seen.clone()\ny.sum().backward()\nseen.add_(1)"
    run_cell(ip, f"%%inplace_watch --prove -o report\n{cell}")

    assert first(ip.user_ns["report"]).proof.verdict == "proven"  # type: ignore[union-attr]
    seen = ip.user_ns["seen"]
    assert (seen.tolist(), seen._version, ip.user_ns["z"].grad) == ([0.0] * 3, 0, None), (
        "the cell raised above its step"
    )
