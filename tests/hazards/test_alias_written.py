"""A tensor written under one name and read under another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import made, site, tensor, wrote
from hazards.running import cure, example, plainly, watched

from inplace_magic.capture.torch.traits import traits_of
from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.handed import argument_written
from inplace_magic.hazards.stale import alias_written as rule
from inplace_magic.record.memory import Storage
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.trace import Trace

CELL = ("ids = torch.tensor([3, 1])", "labels = ids", "labels[0] = -100", "vectors = table[ids]")
LABELS, INPLACE = example(rule, "Bad").split("\n\n")
SETUP = """
ids, mask = torch.tensor([3, 1]), torch.tensor([True, False])
def model(ids, labels):
    return (ids * 2).sum()
x, weight = torch.tensor([-1.0, 1.0]), torch.ones(2)
def conv(t):
    return t * weight
"""


def second_name() -> Trace:
    ids, table, vectors = tensor(1, shape=(2,)), tensor(2), tensor(3)
    return Trace(
        calls=(
            made(0, "torch.tensor", site(1, CELL), (), (ids,)),
            wrote(1, "Tensor.__setitem__", site(3, CELL, expression="labels[0]"), ids),
            made(2, "Tensor.__getitem__", site(4, CELL), (table, replace(ids, version=1)), (vectors,)),
        ),
        aliases=(AliasStatement("<module>", 7, None, 2, "labels", "ids", "labels = ids"),),
    )


def test_the_finding_names_the_read_the_write_and_the_second_name() -> None:
    (finding,), faults = find_hazards(second_name())
    assert faults == ()
    assert (finding.code, finding.severity) == (rule.CODE, "warning")
    assert finding.variable == "labels"
    assert finding.mutation is not None
    assert finding.mutation.line == 3
    assert "overwrote `ids`, and `vectors = table[ids]` (Cell In[7], line 4) reads the new values" in finding.message
    assert "`labels = ids`, line 2" in finding.message
    assert "labels = ids.clone()" in cure(finding)


def test_a_name_that_is_not_read_again_is_no_finding() -> None:
    trace = second_name()
    assert find_hazards(replace(trace, calls=trace.calls[:2])) == ((), ())


def test_a_name_that_is_bound_anew_before_the_read_is_none() -> None:
    trace = second_name()
    cell = (*CELL[:3], "ids = torch.tensor([0, 0])", "vectors = table[ids]")
    other = tensor(9, shape=(2,))
    anew = made(2, "torch.tensor", site(4, cell), (), (other,))
    read = made(3, "Tensor.__getitem__", site(5, cell), (tensor(2), other), (tensor(3),))
    assert find_hazards(replace(trace, calls=(*trace.calls[:2], anew, read))) == ((), ())


def test_a_buffer_that_is_there_to_be_filled_is_none() -> None:
    trace = second_name()
    born = replace(trace.calls[0], name="torch.zeros", traits=traits_of("torch.zeros"))
    calls = (born, *trace.calls[1:])
    assert find_hazards(replace(trace, calls=calls, storages=(Storage(1, 16, "cpu", born=0),))) == ((), ())


def test_the_bad_program_with_a_second_name_gives_the_write(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, LABELS)
    assert ran.error is None
    finding = ran.the(rule.CODE)
    assert ran.at(finding.mutation) == "labels[mask] = -100"
    assert finding.variable == "labels"
    assert "overwrote `ids`, and `loss = model(ids, labels)`" in finding.message


def test_the_bad_program_with_an_inplace_call_gives_the_write(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, INPLACE)
    finding = ran.the(rule.CODE)
    assert ran.at(finding.mutation) == "h = F.relu(x, inplace=True)"
    assert finding.variable == "x"
    assert "overwrote `x`, and" in finding.message


def test_a_line_that_writes_and_reads_is_told_by_its_part_that_writes(tmp_path: Path) -> None:
    shortcut = "def shortcut(x):\n    return x + F.relu(x, inplace=True).sum()\n\n\ny = shortcut(x * 1)"
    ran = watched(tmp_path, SETUP, shortcut)
    message = ran.the(rule.CODE).message
    assert message.startswith("`F.relu(x, inplace=True)` in `return x + F.relu(x, inplace=True).sum()`")
    assert "overwrote `x`, and the rest of the line reads the new values" in message
    assert message.count("return x +") == 1
    listing = [line.strip() for line in ran.report.to_text().splitlines() if line.strip().startswith("|")]
    assert len(listing) == 1
    assert listing[0].startswith("|   called from")


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Good"), LABELS.split("\n", 1)[1])
    assert ran.error is None
    assert ran.codes() == set()


def test_the_same_name_bound_again_is_quiet(tmp_path: Path) -> None:
    assert watched(tmp_path, SETUP, "x = relu_inplace(x)\ny = conv(x)").codes() == set()


def test_a_write_that_is_a_statement_of_its_own_is_meant(tmp_path: Path) -> None:
    assert watched(tmp_path, SETUP, "x.clamp_(min=0)\ny = conv(x)").codes() == set()


def test_without_us_the_other_name_reads_the_new_values_and_nothing_is_said(tmp_path: Path) -> None:
    labels = plainly(tmp_path, SETUP, LABELS)
    assert labels.error is None
    assert labels.names["ids"].tolist() == [-100, 1]
    inplace = plainly(tmp_path, SETUP, INPLACE)
    assert inplace.error is None
    assert inplace.names["y"].tolist() == [0.0, 1.0]  # conv(x) would be [-1, 1]


def test_a_residual_block_reads_what_its_own_body_rewrote_whatever_the_caller_calls_it(tmp_path: Path) -> None:
    block = """
class Block(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
    def forward(self, x):
        return x + self.body(x)
block, stem = Block(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(2, 2))), nn.Linear(2, 2)
"""
    ran = watched(tmp_path, block, "x = stem(torch.ones(1, 2))\ny = block(x)")
    (finding,) = [found for found in ran.report.hazards if found.code == rule.CODE]
    assert finding.mutation is not None
    assert finding.mutation.text.strip() == "return x + self.body(x)"
    plain = block.replace("inplace=True", "inplace=False")
    assert watched(tmp_path, plain, "x = stem(torch.ones(1, 2))\ny = block(x)").report.hazards == []


ERASE = """
def erase(image):
    patch = image[1:]
    patch.zero_()
    return image
clean = torch.rand(4) + 1
"""


def test_a_helper_that_writes_a_part_of_its_argument_and_gives_it_back_is_told(tmp_path: Path) -> None:
    ran = watched(tmp_path, ERASE, "erased = erase(clean)\ntotal = erased.sum() + clean.mean()")
    finding = ran.the(argument_written.CODE)
    assert ran.at(finding.mutation) == "patch.zero_()"
    assert "and `total = erased.sum() + clean.mean()`" in finding.message


def test_a_helper_that_gives_its_argument_back_under_another_name_is_told(tmp_path: Path) -> None:
    helper = "def relu_inplace(t):\n    return F.relu(t, inplace=True)"
    ran = watched(tmp_path, f"{SETUP}\n{helper}", "h = relu_inplace(x)\ny = conv(x)")
    finding = ran.the(argument_written.CODE)
    assert ran.at(finding.mutation) == "return F.relu(t, inplace=True)"
    assert finding.mutation is not None
    assert ran.at(finding.mutation.caller) == "h = relu_inplace(x)"


def test_a_part_written_by_a_helper_is_meant_where_the_result_takes_the_old_name(tmp_path: Path) -> None:
    for call in ("clean = erase(clean)", "erase(clean)"):
        ran = watched(tmp_path, ERASE, f"{call}\ntotal = clean.sum() + clean.mean()")
        assert not {rule.CODE, argument_written.CODE} & ran.codes()


def test_names_that_were_given_at_once_and_bound_apart_are_two_tensors(tmp_path: Path) -> None:
    apart = "low = high = torch.rand(3)\nlow = low - 0.1\nhigh = high + 0.1\nlow.clamp_(0, 1)\nspan = high - low"
    assert watched(tmp_path, "", apart).codes() == set()


def test_two_names_for_one_buffer_from_one_statement_are_found(tmp_path: Path) -> None:
    ran = watched(tmp_path, "g = torch.ones(2)", "m = v = torch.zeros(2)\nm.add_(g)\nv.addcmul_(g, g)\nstep = m / v")
    finding = next(found for found in ran.report.hazards if found.code == rule.CODE)
    assert ran.at(finding.mutation) in ("m.add_(g)", "v.addcmul_(g, g)")
    assert "m = v = torch.zeros(2)" in finding.message


def test_dimensions_swapped_in_place_are_swapped_under_the_other_name_too(tmp_path: Path) -> None:
    program = (
        "turn, points = torch.rand(3, 3), torch.rand(2, 3)\nback = {back}\nback.t_()\nagain = points @ turn @ back"
    )
    finding = watched(tmp_path, "", program.format(back="turn")).the(rule.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "back.t_()"
    assert "swapped the dimensions of" in finding.message
    assert rule.CODE not in watched(tmp_path, "", program.format(back="turn.clone()")).codes()


def test_which_of_two_names_an_unseen_function_wrote_is_not_guessed(tmp_path: Path) -> None:
    """A solver hands both names of its state to a TorchScript function, which updates one of them on purpose."""
    setup = (
        "@torch.jit.script\n"
        "def update(residual, direction):\n"
        "    direction.mul_(0.5).add_(residual.clone())\n"
        "state = torch.ones(3) * 1"
    )
    solver = (
        "residual = state.clone()\ndirection = residual\nfor _ in range(3):\n"
        "    y = direction * 2\n    update({handed}, direction)"
    )
    assert watched(tmp_path, setup, solver.format(handed="residual")).codes() == set()
    assert watched(tmp_path, setup, solver.format(handed="state")).codes() == set()


GIVEN_BACK = """
def prepared(x, train):
    return x + torch.randn_like(x) if train else x
x = torch.tensor([-1.0, 1.0])
skip = nn.Identity()
flag = True
"""
GIVING_BACK = ["y = skip(x)", "y = prepared(x, False)", "y = x if flag else x.clone()"]
LEAVING_ALONE = ["y = prepared(x, True)", "y = x.clone() if flag else x", "y = skip(x) + 1"]


@pytest.mark.parametrize("second", GIVING_BACK)
def test_a_second_name_that_no_text_tells_is_seen(tmp_path: Path, second: str) -> None:
    program = f"{second}\ny.mul_(2)\nz = x * y\n"
    assert plainly(tmp_path, GIVEN_BACK, program).names["z"].tolist() == [4.0, 4.0], "PyTorch alone gives no error"
    finding = watched(tmp_path, GIVEN_BACK, program).the(rule.CODE)
    assert finding.variable == "y"
    assert second in finding.message
    assert any(
        line in cure(finding) for line in (f"+    {second}.clone()", "+    y = (x if flag else x.clone()).clone()")
    )


@pytest.mark.parametrize(
    ("second", "read"),
    [*((second, "y * 2") for second in GIVING_BACK), *((second, "x * y") for second in LEAVING_ALONE)],
)
def test_it_is_no_finding_where_there_are_two_tensors_or_the_old_name_is_not_read(
    tmp_path: Path, second: str, read: str
) -> None:
    assert rule.CODE not in watched(tmp_path, GIVEN_BACK, f"{second}\ny.mul_(2)\nz = {read}\n").codes()


def test_a_choice_between_two_names_says_which_is_meant(tmp_path: Path) -> None:
    chosen = "other = x * 3\ny = x if flag else other\ny.mul_(2)\nz = x * y\n"
    assert rule.CODE not in watched(tmp_path, GIVEN_BACK, chosen).codes()


def test_a_name_to_work_by_that_hands_on_to_another_one_is_done_with(tmp_path: Path) -> None:
    """As ``torch.optim.LBFGS`` does: ``d = r = torch.mul(q, H_diag)``."""
    program = """
q = torch.ones(3)
direction = work = torch.mul(q, 2)
for step in torch.ones(2, 3):
    work.add_(step, alpha=-float(step.dot(work)))
slope = q.dot(direction)
"""
    assert [h.code for h in watched(tmp_path, program).report.hazards if h.is_alarm] == []
    both = watched(tmp_path, program + "print(work - slope)\n").report
    assert [h.code for h in both.hazards if h.is_alarm] == ["alias-written"]


def test_the_shape_of_the_other_name_in_a_line_that_reads_a_list_is_no_read(tmp_path: Path) -> None:
    summed = "x = torch.tensor([1.0, 2.0])\ntotal = x\ntotal += 1\n"
    shape = watched(tmp_path, summed + "y = torch.cat([total, torch.zeros(x.shape[0])])\n")
    assert rule.CODE not in shape.codes()
    values = watched(tmp_path, summed + "y = torch.cat([x, torch.zeros(2)])\n")
    assert rule.CODE in values.codes()
