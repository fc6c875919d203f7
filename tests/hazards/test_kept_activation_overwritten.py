"""A kept activation that the next in-place layer rewrote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from builders import made, site, tensor, wrote
from hazards.running import example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.stale import kept_activation_overwritten as rule
from inplace_magic.record.names import TensorName
from inplace_magic.record.trace import Trace

CELL = ("y = net(x)", 'm = kept["pre"].mean()')
SETUP = """
kept = {}
conv = nn.Conv2d(1, 1, 1, bias=False)
nn.init.ones_(conv.weight)
x = torch.linspace(-1, 1, 4).reshape(1, 1, 2, 2)
"""
TAIL = 'seen = kept["pre"].min().item()'


def hooked() -> Trace:
    weight, before, kept = tensor(1, requires_grad=True), tensor(2), tensor(3)
    return Trace(
        calls=(
            made(0, "F.conv2d", site(1, CELL, direct=False), (before, weight), (kept,)),
            wrote(1, "F.relu", site(1, CELL, direct=False), kept),
            made(2, "Tensor.mean", site(2, CELL), (replace(kept, version=1),), (tensor(4),)),
        ),
        names=(TensorName(1, "net[0].weight"), TensorName(3, 'kept["pre"]')),
        hooked_modules=("net[0]",),
    )


def test_the_finding_names_what_was_kept_how_and_who_rewrote_it() -> None:
    (finding,), faults = find_hazards(hooked())
    assert faults == ()
    assert (finding.code, finding.severity) == (rule.CODE, "warning")
    assert finding.variable == 'kept["pre"]'
    assert finding.mutation == site(1, CELL, direct=False)
    assert "a forward hook of `net[0]` kept it" in finding.message


def test_a_module_without_a_hook_kept_nothing() -> None:
    assert find_hazards(replace(hooked(), hooked_modules=())) == ((), ())


def test_what_is_not_read_afterwards_is_no_finding() -> None:
    trace = hooked()
    assert find_hazards(replace(trace, calls=trace.calls[:2])) == ((), ())


def test_the_bad_program_gives_the_line_that_rewrote_it(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Bad"))
    assert ran.error is None
    finding = ran.the(rule.CODE)
    assert finding.severity == "warning"
    assert ran.at(finding.mutation) == "nn.Sequential(conv, nn.ReLU(inplace=True))(x)"
    assert finding.variable == 'kept["pre"]'
    assert "a forward hook of `conv` kept it" in finding.message


def test_an_activation_kept_in_a_list_is_found_as_well(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        SETUP,
        "features = []\nh = conv(x)\nfeatures.append(h)\nh = F.relu(h, inplace=True)\ntotal = features[0].sum()",
    )
    finding = ran.the(rule.CODE)
    assert ran.at(finding.mutation) == "h = F.relu(h, inplace=True)"
    assert "`features.append(h)`" in finding.message


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    rest = example(rule, "Bad").split("\n", 1)[1]
    ran = watched(tmp_path, SETUP, example(rule, "Good"), rest)
    assert ran.error is None
    assert ran.codes() == set()


def test_without_us_the_rectified_values_are_seen_and_nothing_is_said(tmp_path: Path) -> None:
    rest = example(rule, "Bad").split("\n", 1)[1]
    bad = plainly(tmp_path, SETUP, example(rule, "Bad"), TAIL)
    good = plainly(tmp_path, SETUP, example(rule, "Good"), rest, TAIL)
    assert bad.error is None
    assert bad.names["seen"] == 0.0
    assert good.names["seen"] < 0.0
