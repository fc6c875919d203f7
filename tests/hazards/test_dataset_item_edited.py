"""A dataset whose items are edited where they are stored."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from builders import site, tensor, wrote
from cells import run_cell
from hazards.running import example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.stale import dataset_item_edited as rule
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace

CELL = ("return image.sub_(0.5)", "first = data[0]", "again = data[0]")
EPOCHS = """
data = Data()
first = data[0].tolist()
again = data[0].tolist()
"""


def dataset(title: str) -> str:
    """A class with the ``__getitem__`` of the page."""
    head = "class Data(torch.utils.data.Dataset):\n    def __init__(self):\n        self.images = torch.ones(2, 3)\n"
    return head + textwrap.indent(example(rule, title), "    ")


def fetched(line: int, function: str = "Data.__getitem__") -> Callsite:
    return site(1, CELL, function=function, expression="image.sub_(0.5)", caller=site(line, CELL))


@pytest.mark.parametrize("lines", [(2, 3), (2, 2)], ids=["two lines fetch", "one line in a loop fetches"])
def test_an_item_edited_at_each_fetch_is_found(lines: tuple[int, int]) -> None:
    calls = tuple(
        wrote(i, "Tensor.sub_", fetched(line), tensor(i, version=i, storage=7, counter=7))
        for i, line in enumerate(lines)
    )
    found, faults = find_hazards(Trace(calls=calls))
    assert faults == ()
    assert [(finding.code, finding.severity) for finding in found] == [(rule.CODE, "warning")]
    assert found[0].mutation is not None
    assert found[0].mutation.line == 1
    assert found[0].variable == "image"


def test_items_with_memory_of_their_own_may_be_edited() -> None:
    calls = tuple(wrote(i, "Tensor.sub_", fetched(2), tensor(i)) for i in range(2))
    assert find_hazards(Trace(calls=calls)) == ((), ())


def test_a_write_that_forgets_the_old_values_gives_the_same_item_each_time() -> None:
    calls = tuple(wrote(i, "Tensor.clamp_", fetched(2), tensor(i, storage=7)) for i in range(2))
    assert find_hazards(Trace(calls=calls)) == ((), ())


def test_other_functions_may_write_the_same_tensor_again_and_again() -> None:
    calls = tuple(wrote(i, "Tensor.sub_", fetched(2, "Data.update"), tensor(i, storage=7)) for i in range(2))
    assert find_hazards(Trace(calls=calls)) == ((), ())


def test_the_bad_program_gives_the_line_of_the_edit(tmp_path: Path) -> None:
    ran = watched(tmp_path, dataset("Bad"), "data = Data()", "for epoch in range(2):\n    batch = data[0]")
    assert ran.error is None
    finding = ran.the(rule.CODE)
    assert finding.severity == "warning"
    assert ran.at(finding.mutation) == "return image.sub_(0.5).div_(0.25)"
    assert finding.variable == "image"


def test_the_bad_program_is_found_where_two_lines_fetch(tmp_path: Path) -> None:
    ran = watched(tmp_path, dataset("Bad"), EPOCHS)
    assert ran.at(ran.the(rule.CODE).mutation) == "return image.sub_(0.5).div_(0.25)"


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    assert watched(tmp_path, dataset("Good"), EPOCHS).codes() == set()


def test_without_us_the_second_epoch_sees_other_values_and_nothing_is_said(tmp_path: Path) -> None:
    bad, good = (plainly(tmp_path, dataset(title), EPOCHS) for title in ("Bad", "Good"))
    assert bad.error is None
    assert good.names["first"] == good.names["again"] == [2.0, 2.0, 2.0]
    assert bad.names["first"] == [2.0, 2.0, 2.0]
    assert bad.names["again"] == [6.0, 6.0, 6.0]


ROWS = """
import numpy as np
class Data(torch.utils.data.Dataset):
    def __init__(self):
        self.rows = np.arange(6.0).reshape(2, 3)
    def row(self, i):
        return {row}
    def __getitem__(self, i):
        x = torch.as_tensor(self.row(i))
        x -= 1.0
        x /= 2.0
        return x
"""


def test_an_item_on_the_memory_of_an_array_is_found_when_it_is_edited_again(tmp_path: Path) -> None:
    ran = watched(tmp_path, ROWS.format(row="self.rows[i]"), EPOCHS)
    (finding,) = [found for found in ran.report.hazards if found.code == rule.CODE][:1]
    assert ran.at(finding.mutation) == "x -= 1.0"
    assert ran.names["again"] != ran.names["first"]


def test_an_array_made_anew_at_the_same_address_may_be_edited(tmp_path: Path) -> None:
    for row in ("self.rows[i].copy()", "np.zeros(3)", "np.ones(3)"):
        assert rule.CODE not in watched(tmp_path, ROWS.format(row=row), EPOCHS).codes()


def test_a_counter_of_fetches_may_be_written_at_each(tmp_path: Path) -> None:
    data = """
class Data(torch.utils.data.Dataset):
    def __init__(self):
        self.images, self.seen = torch.ones(2, 3), torch.rand(2)
    def __getitem__(self, i):
        self.seen[i] += 1
        self.seen[i].mul_(0.9)
        return self.images[i] * 2
"""
    assert watched(tmp_path, data, EPOCHS).codes() == set()


STORED = """
stored = [{"image": torch.rand(2, 2)} for _ in range(2)]
def load(i):
    sample = {copied}
    sample["image"] *= 0.5
    return sample
for epoch in range(2):
    batch = [load(i)["image"].sum() for i in range(2)]
"""


def edits_found(shell: Any, copied: str) -> list[str]:
    run_cell(shell, "%%inplace_watch --out report\nimport copy, torch" + STORED.replace("{copied}", copied))
    found = [hazard.mutation for hazard in shell.user_ns["report"].hazards if hazard.code == rule.CODE]
    return [site.statement for site in found]


@pytest.mark.parametrize("copied", ["dict(stored[i])", "stored[i].copy()", "{**stored[i]}", "copy.copy(stored[i])"])
def test_a_shallow_copy_of_a_stored_sample_is_edited_again_in_the_next_epoch(loaded_shell: Any, copied: str) -> None:
    assert edits_found(loaded_shell, copied) == ['sample["image"] *= 0.5']


@pytest.mark.parametrize("copied", ["copy.deepcopy(stored[i])", "stored[i]", '{"image": stored[i]["image"].clone()}'])
def test_a_deep_copy_and_an_edit_without_any_are_left_alone(loaded_shell: Any, copied: str) -> None:
    assert edits_found(loaded_shell, copied) == []


LABELS = """
net = nn.Linear(3, 4)
batches = [(torch.rand(2, 3), torch.tensor([3, 4])), (torch.rand(2, 3), torch.tensor([4, 3]))]
for epoch in range(2):
    for x, y in batches:
        {write}
        F.cross_entropy(net(x), {read}).backward()
"""


def test_labels_in_a_list_that_every_epoch_shifts_in_place_are_found(tmp_path: Path) -> None:
    ran = watched(tmp_path, "", LABELS.format(write="y -= 1", read="y"))
    assert ran.at(ran.the(rule.CODE).mutation) == "y -= 1"


@pytest.mark.parametrize(("write", "read"), [("y = y - 1", "y"), ("y.clamp_(max=3)", "y"), ("x *= 1.0", "y - 1")])
def test_labels_that_every_epoch_sees_alike_are_none(tmp_path: Path, write: str, read: str) -> None:
    assert rule.CODE not in watched(tmp_path, "", LABELS.format(write=write, read=read)).codes()
