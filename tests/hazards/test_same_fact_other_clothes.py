"""One mistake in many clothes: what decides is who holds which memory, and not the statement that it came by.

Each program stands twice in a test: as it is, where the line marked ``# here`` is to be told, and with copies in the
places marked ``COPY``, where nothing is wrong.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

HANDED = "self.total = total"
ADDING = {"an augmented assignment": "self.total += value  # here", "an element": "self.total[0] += value[0]  # here"}


def _meters(holding: str, made: str, adding: str) -> str:
    return f"""
def accumulate(total, value):
    total += value  # here
class Meter:
    def __init__(self, total):
        {holding}
    def __iadd__(self, value):
        self.total += value  # here
        return self
    def add(self, value):
        {adding}
{made}
a.add(torch.ones(2))
b.add(torch.ones(2))
print(a.total, b.total)
"""


def test_objects_with_a_row_each_of_one_table_share_nothing(loaded_shell: Any, tmp_path: Path) -> None:
    program = _meters(
        HANDED, "table = torch.zeros(2, 2)\na, b = Meter(table[0]), Meter(table[1])", ADDING["an element"]
    )
    _is_quiet(loaded_shell, tmp_path, program)


def test_one_object_by_the_names_of_two_functions_is_one(loaded_shell: Any, tmp_path: Path) -> None:
    program = _meters(HANDED, "a = b = Meter(torch.zeros(2))", ADDING["an augmented assignment"])
    feed = "def feed(meter, value):\n    meter.add(value)\nfeed(a, torch.ones(2))\n"
    _is_quiet(loaded_shell, tmp_path, program.replace("b.add(", f"{feed}feed(b, torch.ones(2))\na.add("))


SIGHTINGS = """
class Sightings(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))
    def forward(self, x):
        self.seen.add_(x.sum())  # here
        return x
def once(module, part):
    return MADE(part)
net = Sightings()
first = once(net, torch.ones(2))
second = once(net, torch.ones(3))
total = net.seen.item()
"""


def test_a_replica_that_torch_made_counts_in_the_buffers_of_its_original_as_it_is_meant_to(
    loaded_shell: Any, tmp_path: Path
) -> None:
    """Of the first device, torch says that what is written there is kept (`DataParallel`, in its warning)."""
    replica = told(loaded_shell, tmp_path, SIGHTINGS.replace("MADE", "module._replicate_for_data_parallel()"))
    assert replica.names["total"] == 5
    assert replica.alarms == [[], []]
    copied = told(loaded_shell, tmp_path, "import copy\n" + SIGHTINGS.replace("MADE", "copy.copy(module)"))
    assert {code for way in copied.alarms for code, _text in way} == {"objects-share-state"}


BEAMS = """
def reorder(hidden, words, parents):
    for beam, parent in enumerate(parents):
        if beam != parent:
            hidden[beam] = hidden[parent] COPY  # here
            words[beam] = words[parent] COPY  # here
hidden, words = torch.rand(4, 2), torch.arange(4)
reorder(hidden, words.view(4, 1), ORDER)
total = hidden.sum() + words.sum()
"""


def test_lines_of_one_loop_that_reorder_a_tensor_each_are_told_as_one_line_is(
    loaded_shell: Any, tmp_path: Path
) -> None:
    found = told(loaded_shell, tmp_path, BEAMS.replace("ORDER", "[2, 0, 1, 3]").replace(" COPY", ""))
    assert [[code for code, _text in way] for way in found.alarms] == [["row-overwritten-first"] * 2] * 2
    assert all(text.endswith("# here") for way in found.alarms for _code, text in way)


@pytest.mark.parametrize(
    "program",
    [
        BEAMS.replace("ORDER", "[2, 0, 1, 3]").replace(" COPY", ".clone()").replace("hidden[p", "hidden.clone()[p"),
        BEAMS.replace("ORDER", "[1, 2, 3, 3]").replace(" COPY", ""),
        """
x = torch.tensor([4.0, 3.0, 2.0, 1.0])
for last in range(3, 0, -1):
    for i in range(last):
        if x[i] > x[i + 1]:
            y = x[i].clone()
            x[i] = x[i + 1]
            x[i + 1] = y
total = x.sum()
""",
        """
frames, times = torch.zeros(3, 2), torch.zeros(3, 1)
for step in range(3):
    for i in range(2):
        frames[i] = frames[i + 1]
    for i in range(2):
        times[i] = times[i + 1]
    frames[2], times[2] = torch.ones(2), torch.ones(1)
total = frames.sum() + times.sum()
""",
        """
frames, times = torch.rand(3, 2), torch.rand(3, 1)
for step in range(2):
    for i in range(2):
        frames[i] = frames[i + 1]
    for i in range(2):
        times[i] = times[i + 1]
total = frames.sum() + times.sum()
""",
    ],
    ids=["from copies", "upwards", "swapped", "moved on and filled", "moved on in loops of their own"],
)
def test_rows_that_are_moved_as_they_should_be_are_not(program: str, loaded_shell: Any, tmp_path: Path) -> None:
    _is_quiet(loaded_shell, tmp_path, program)


WRITES = {
    "an element": "shifted[0].fill_(9.0)  # here",
    "its data": "shifted.data.sub_(1.0)  # here",
    "a view of it": "shifted.view(-1).sub_(1.0)  # here",
    "a view of a view": "shifted.view(2, 3)[0].mul_(0.0)  # here",
}
READS = (
    "values.mean()",
    "values.tolist()",
    "sum(values.tolist())",
    "values[0].item()",
    "F.mse_loss(values, torch.ones(6))",
)


@pytest.mark.parametrize("write", WRITES)
def test_a_second_name_is_told_however_it_is_written(write: str, loaded_shell: Any, tmp_path: Path) -> None:
    _is_told(loaded_shell, tmp_path, "alias-written", _second_name(WRITES[write], READS[0]))


@pytest.mark.parametrize("read", READS)
def test_a_second_name_is_told_however_the_first_one_is_read(read: str, loaded_shell: Any, tmp_path: Path) -> None:
    _is_told(loaded_shell, tmp_path, "alias-written", _second_name("shifted -= 1.0  # here", read))


def test_a_module_that_does_nothing_and_is_made_for_it_gives_a_second_name(loaded_shell: Any, tmp_path: Path) -> None:
    program = _second_name("shifted -= 1.0  # here", READS[0]).replace("= values COPY", "= nn.Identity()(values COPY)")
    _is_told(loaded_shell, tmp_path, "alias-written", program)


def _second_name(write: str, read: str) -> str:
    return f"""
def main():
    values = torch.arange(6.0)
    shifted = values COPY
    {write}
    return shifted.mean(), {read}
main()
"""


def test_two_handles_that_follow_a_state_are_meant_to(loaded_shell: Any, tmp_path: Path) -> None:
    program = """
class Board:
    def __init__(self):
        self.cells = torch.zeros(3)
    def row(self):
        return self.cells[:]
    def play(self, at):
        self.cells[at] += 1
board = Board()
left = board.row()
board.play(0)
right = board.row()
print(left.sum(), right.sum())
"""
    _is_quiet(loaded_shell, tmp_path, program)


SNAPSHOTS = {
    "a function that returns its argument": "as_float(box.x COPY)",
    "a choice": "box.x COPY if len(box.x) else torch.zeros(3)",
    "an entry of a list": "[box.x COPY][0]",
    "a module": "nn.Identity()(box.x COPY)",
}


@pytest.mark.parametrize("taken", SNAPSHOTS)
def test_what_was_taken_as_the_old_values_is_told_however_it_was_taken(
    taken: str, loaded_shell: Any, tmp_path: Path
) -> None:
    program = f"""
class Box:
    pass
def as_float(values):
    return values if values.dtype == torch.float32 else values.float()
def main():
    box = Box()
    box.x = torch.arange(3.0)
    before = {SNAPSHOTS[taken]}
    box.x -= box.x.mean()  # here
    return (box.x - before).abs().max()
main()
"""
    _is_told(loaded_shell, tmp_path, "same-memory-compared", program)


def test_a_table_of_a_cached_property_is_told_as_one_of_a_cached_function_is(loaded_shell: Any, tmp_path: Path) -> None:
    program = """
import functools
class Grid:
    @functools.cached_property
    def table(self):
        return torch.arange(4.0) + 1
grid = Grid()
def scaled(by):
    table = grid.table COPY
    table *= by  # here
    return table.sum()
one = scaled(2.0)
two = scaled(3.0)
"""
    _is_told(loaded_shell, tmp_path, "initial-value-written", program)


def test_a_layer_that_returns_what_it_wrote_says_so_by_any_return(loaded_shell: Any, tmp_path: Path) -> None:
    """What a hook kept before is its own, and what the next layer reads is what this one gave."""
    program = """
class Act(nn.Module):
    def forward(self, x):
        return F.relu(x, inplace=True)
net = nn.Sequential(nn.Linear(3, 4), Act(), nn.Linear(4, 1))
seen = {}
def keep(module, given, out):
    seen["h"] = out.clone()
net[0].register_forward_hook(keep)
def main():
    with torch.no_grad():
        y = net(torch.ones(2, 3))
    return y.mean(), seen["h"].mean()
main()
"""
    _is_quiet(loaded_shell, tmp_path, program)


def _is_told(loaded_shell: Any, tmp_path: Path, code: str, program: str) -> None:
    for finding in told(loaded_shell, tmp_path, program.replace(" COPY", "")).the(code):
        assert finding.mutation is not None
        assert finding.mutation.text.endswith("# here")
    _is_quiet(loaded_shell, tmp_path, program.replace(" COPY", ".clone()"))


def _is_quiet(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    assert told(loaded_shell, tmp_path, program).alarms == [[], []]
