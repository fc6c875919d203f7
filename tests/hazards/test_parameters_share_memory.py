"""One tensor that a function gets for two parameters, written by the one and read by the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from builders import made, site, tensor, wrote
from hazards.both_ways import told
from hazards.curing import cured, run, watch_cell
from hazards.running import IMPORTS, example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.rules import parameters_share_memory as rule
from inplace_magic.record.trace import Trace

SETUP = "u = torch.arange(1.0, 4.0)\nv = torch.ones(3)\n"
BAD = {
    "by_an_operator": ("def f(a, b):\n    a *= 2\n    return a + b\ny = f(u, u)", "a *= 2", 4.0),
    "by_a_keyword": ("def f(a, b):\n    a.mul_(2)\n    return b.clone()\ny = f(b=u, a=u)", "a.mul_(2)", 2.0),
    "an_element": ("def f(a, b):\n    a[0] = 7\n    return b.clone()\ny = f(u, u)", "a[0] = 7", 7.0),
    "by_out": ("def f(a, b):\n    torch.neg(b, out=a)\n    return a + b\ny = f(u, u)", "torch.neg(b, out=a)", -2.0),
    "by_a_module": (
        "relu = nn.Hardtanh(-1, 0, inplace=True)\ndef f(x, skip):\n    x = relu(x)\n    return x + skip\ny = f(u, u)",
        "x = relu(x)",
        0.0,
    ),
    "by_a_helper": (
        "def twice_(t):\n    t *= 2\ndef f(a, b):\n    twice_(a)\n    return a + b\ny = f(u, u)",
        "t *= 2",
        4.0,
    ),
    "read_by_a_helper": (
        "def total(t):\n    return t.sum() * v\ndef f(a, b):\n    a *= 2\n    return total(b)\ny = f(u, u)",
        "a *= 2",
        12.0,
    ),
    "of_a_method": (
        "class Net(nn.Module):\n    def forward(self, q, k):\n        q *= 2\n        return q * k\ny = Net()(u, u)",
        "q *= 2",
        4.0,
    ),
    "by_another_name": (
        "def f(a, b):\n    a *= 2\n    return a + b\nw = u.detach()\ny = f(u, w)",
        "a *= 2",
        4.0,
    ),
}
GOOD = {
    "two_tensors": "def f(a, b):\n    a *= 2\n    return a + b\ny = f(u, v)",
    "a_copy": "def f(a, b):\n    a *= 2\n    return a + b\ny = f(u, u.clone())",
    "the_written_one_is_read": "def f(a, b):\n    a *= 2\n    return a + 1\ny = f(u, u)",
    "read_before": "def f(a, b):\n    c = a + b\n    a *= 2\n    return c\nfor i in range(3):\n    y = f(u, u)",
    "given_another_value": "def f(a, b):\n    b = b + 0\n    a *= 2\n    return a + b\ny = f(u, u)",
    "only_its_shape": "def f(a, b):\n    a *= 2\n    return a.view(b.shape)\ny = f(u, u)",
    "both_are_written": "def f(a, b):\n    a -= a.mean()\n    b -= b.mean()\n    return a @ b\ny = f(u, u)",
    "other_parts_of_one_memory": "def f(a, b):\n    a *= 2\n    return a + b\nx = torch.ones(4)\ny = f(x[:2], x[2:])",
    "chunks": "def f(q, k, v):\n    q *= 2\n    return q * k + v\ny = f(*torch.ones(3, 6).chunk(3, -1))",
    "another_call": "def f(a, b):\n    a *= 2\n    return a + b\ny = f(u, v)\n"
    "def g(a, b):\n    return a + b\nz = g(u, u)",
    "a_new_tensor": "def f(a, b):\n    a = a * 2\n    a += 1\n    return a + b\ny = f(u, u)",
}


@pytest.mark.parametrize("name", BAD)
def test_the_write_and_the_read_are_named(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    program, statement, first = BAD[name]
    ran = told(loaded_shell, tmp_path, SETUP + program)
    assert ran.plain is None
    assert float(ran.names["y"].flatten()[0]) == first  # what PyTorch makes of it, without a word
    for finding in ran.the(rule.CODE):
        assert finding.severity == "warning"
        assert finding.mutation is not None
        assert finding.mutation.statement == statement
        assert finding.read is not None
        assert finding.read.line > finding.mutation.line or name in ("by_a_helper", "read_by_a_helper")


@pytest.mark.parametrize("name", GOOD)
def test_it_is_quiet(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, SETUP + GOOD[name])
    assert ran.plain is None
    assert [code for found in ran.alarms for code, _ in found if code == rule.CODE] == []


def test_the_bad_program_names_both_parameters(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Bad"))
    finding = ran.the(rule.CODE)
    assert ran.at(finding.mutation) == "a *= 2"
    assert finding.variable == "a"
    assert "for both `a` and `b`" in finding.message


def test_the_good_program_is_quiet_and_gives_the_sum(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Good"))
    assert ran.codes() == set()
    assert plainly(tmp_path, SETUP, example(rule, "Good")).names["y"].tolist() == [3.0, 6.0, 9.0]
    assert plainly(tmp_path, SETUP, example(rule, "Bad")).names["y"].tolist() == [4.0, 8.0, 12.0]


def test_the_diff_cures_it(loaded_shell: Any) -> None:
    source = f"{IMPORTS}{SETUP}{BAD['by_an_operator'][0]}"
    report = watch_cell(loaded_shell, source)
    left, error = run(cured(source, report))
    assert error == ""
    assert torch.equal(left["y"], 3 * torch.arange(1.0, 4.0))
    assert torch.equal(left["u"], torch.arange(1.0, 4.0))


def test_it_is_told_in_chinese(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Bad"))
    (finding,) = (each for each in ran.report.in_language("zh").hazards if each.code == rule.CODE)
    assert "同一个张量" in finding.message


LINES = ("a *= 2", "return a + b", "y = f(u, u)")


def by_hand() -> Trace:
    caller = replace(site(3, LINES), expression="f(u, u)")
    inner = {"function": "f", "caller": caller, "parameters": ("a", "b")}
    u, y = tensor(1), tensor(2)
    write = wrote(0, "Tensor.mul_", replace(site(1, LINES, **inner), expression="a *= 2"), u)
    read = made(1, "Tensor.add", replace(site(2, LINES, **inner), expression="a + b"), (u, u), (y,))
    return Trace(calls=(write, read))


def test_a_trace_by_hand_gives_the_finding() -> None:
    (finding,), faults = find_hazards(by_hand())
    assert faults == ()
    assert (finding.code, finding.mutation and finding.mutation.line, finding.read and finding.read.line) == (
        *(rule.CODE, 1, 2),
    )


def test_a_caller_that_hands_over_two_variables_is_none() -> None:
    trace = by_hand()
    calls = []
    for call in trace.calls:
        assert call.callsite is not None
        assert call.callsite.caller is not None
        caller = replace(call.callsite.caller, expression="f(u, v)")
        calls.append(replace(call, callsite=replace(call.callsite, caller=caller), inputs=call.inputs[:1]))
    assert find_hazards(replace(trace, calls=tuple(calls))) == ((), ())
