"""A kept activation that the next in-place layer rewrote."""

from __future__ import annotations

from pathlib import Path

from hazards.running import example, plainly, watched

from inplace_magic.hazards.stale import kept_activation_overwritten as rule

SETUP = """
kept = {}
conv = nn.Conv2d(1, 1, 1, bias=False)
nn.init.ones_(conv.weight)
x = torch.linspace(-1, 1, 4).reshape(1, 1, 2, 2)
"""
TAIL = 'seen = kept["pre"].min().item()'


def test_the_bad_program_gives_the_line_that_rewrote_it(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Bad"))
    assert ran.error is None
    finding = ran.the(rule.CODE)
    assert finding.severity == "warning"
    assert ran.at(finding.mutation) == "nn.Sequential(conv, nn.ReLU(inplace=True))(x)"
    assert finding.variable == 'kept["pre"]'
    assert "the output of `Conv2d` that a forward hook kept" in finding.message


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
