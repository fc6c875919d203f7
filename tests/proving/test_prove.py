"""A fix is tried on copies before it is claimed, and the program that it is tried on is left as it was."""

from __future__ import annotations

import importlib
import random
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from cells import run_cell
from torch import nn

import inplace_magic
from inplace_magic import Hazard, Report
from inplace_magic.hazards.fixes import candidates
from inplace_magic.magics import progress
from inplace_magic.proving.bench import Bench
from inplace_magic.proving.judging import judged
from inplace_magic.record.proofs import Proof
from inplace_magic.rerun import guard, room

PROGRAMS = Path(__file__).parent.parent / "programs" / "further"
BROKEN = """\
y = torch.sigmoid(x)
y.mul_(2)
y.sum().backward()
"""
SILENT = """\
y = torch.sigmoid(x)
total = (y * y).sum()
y.data.mul_(3)
total.backward()
"""


@pytest.fixture
def ip(loaded_shell: Any) -> Any:
    """A shell with the extension, torch and a leaf."""
    run_cell(loaded_shell, "import torch\ntorch.manual_seed(0)\nx = torch.randn(4, requires_grad=True)")
    return loaded_shell


def first(report: Report) -> Hazard:
    return report.hazards[0]


def watched(ip: Any, cell: str, options: str = "") -> Report:
    run_cell(ip, f"%%inplace_watch -o report {options}\n{cell}")
    report = ip.user_ns["report"]
    assert isinstance(report, Report)
    assert report.faults == []
    return report


def test_a_fix_that_gives_the_bits_of_the_forward_is_proven(ip: Any) -> None:
    report = watched(ip, BROKEN)
    assert first(report).proof is None, "nothing was tried"

    tried = report.prove()

    proof = first(tried).proof
    assert proof is not None
    assert (proof.verdict, proof.differences) == ("proven", ())
    assert first(tried).diff == first(report).diff
    assert "Proven" in tried.to_text()
    assert "Proven" in tried.to_html()
    assert "Proven" not in report.to_html()


def test_prove_on_the_magic_line_tries_from_what_the_variables_held_before_the_cell(ip: Any) -> None:
    run_cell(ip, "z = torch.ones(3, requires_grad=True)\nz.grad = torch.ones(3)\ncount = 0")
    cell = "count += 1\nassert count == 1\nz = z * 1\ny = torch.sigmoid(z)\ny.mul_(2)\ny.sum().backward()"

    tried = watched(ip, cell, "--prove")

    assert first(tried).proof.verdict == "proven"  # type: ignore[union-attr]
    assert ip.user_ns["count"] == 1
    later = first(tried.prove()).proof
    assert later is not None
    assert later.verdict == "not tried", "the count has moved on"
    assert "ends otherwise: AssertionError" in later.reason


def test_with_watch_in_a_script_and_in_a_function(tmp_path: Path) -> None:
    head = "import torch, inplace_magic\nx = torch.ones(3, requires_grad=True)\n"
    block = "    y = torch.sigmoid(x)\n    y.mul_(2)\n    y.sum().backward()\n"
    plain = (
        f"{head}try:\n  with inplace_magic.watch() as w:\n{block}except RuntimeError: pass\ntried = w.report.prove()\n"
    )
    inner = "".join(f"    {line}\n" for line in plain.splitlines()[1:])
    names = executed(tmp_path / "plain.py", plain)
    called = executed(
        tmp_path / "called.py", f"{head}def main():\n{inner}    return w.report, tried\nw, tried = main()\n"
    )

    assert first(names["tried"]).proof.verdict == "proven"
    assert first(called["tried"]).proof.verdict == "proven"
    assert names["x"].grad is None
    gone = first(called["w"].prove()).proof
    assert (gone.verdict, "`main` has returned" in gone.reason) == ("not tried", True)


def executed(path: Path, source: str) -> dict[str, Any]:
    path.write_text(source, encoding="utf-8")
    names: dict[str, Any] = {"__name__": path.stem}
    exec(compile(source, str(path), "exec"), names)
    return names


def test_a_silent_finding_says_how_wrong_the_gradient_is(ip: Any) -> None:
    x = ip.user_ns["x"]
    right = (2 * torch.sigmoid(x) * torch.sigmoid(x) * (1 - torch.sigmoid(x))).detach()

    tried = watched(ip, SILENT, "--prove")

    proof = next(h.proof for h in tried.hazards if h.severity == "silent")
    assert proof is not None
    (error,) = proof.gradient_errors
    assert error.name == "x.grad"
    assert error.relative == pytest.approx(float((x.grad - right).norm() / right.norm()), rel=1e-4)
    assert error.values == pytest.approx((float(x.grad[error.element]), float(right[error.element])))
    assert f"the gradient of `x` is off by {error.relative:.0%}" in proof.reason


def with_diff(report: Report, diff: str) -> Report:
    return replace(report, findings=(replace(first(report), diff=diff), *report.findings[1:]))


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("y.mul_(2)  # as before", "still raises: RuntimeError: one of the variables"),
        ("y = y.detach() * 2", "still raises: RuntimeError: element 0 of tensors does not require grad"),
        ("y = y * 2; x.data.zero_()", "with another number: `x[0]` is 0 where it was"),
        ("raise KeyError", "still raises: KeyError"),
    ],
)
def test_a_fix_that_cures_nothing_is_refuted_and_another_is_shown(ip: Any, new: str, reason: str) -> None:
    report = watched(ip, BROKEN)
    vain = f"@@ Cell In[{report.trace.cell}], line 3 @@\n-y.mul_(2)\n+{new}"

    proof = verdict_on(with_diff(report, vain))
    tried = first(with_diff(report, vain).prove())

    assert reason in proof.reason
    assert tried.proof is not None
    if proof.verdict == "refuted":
        assert tried.diff.endswith("-y.mul_(2)\n+y = y * 2")
        assert tried.proof.verdict == "proven"
    else:
        assert proof.verdict == "other numbers"
        assert "x" in [difference.name for difference in proof.differences]
        assert tried.proof == proof


def verdict_on(report: Report) -> Proof:
    """What trying the fix of the first finding shows, whatever else could be tried."""
    assert report.origin is not None
    with report.origin.begun(None) as staged:
        return judged(Bench(staged, report.trace), report, first(report), [first(report).diff])


def test_a_fix_that_cuts_a_parameter_off_is_refuted(ip: Any) -> None:
    report = watched(ip, "w = torch.ones(4, requires_grad=True)\ny = x * 2\nz = y * w\ny.mul_(2)\nz.sum().backward()")
    diff = f"@@ Cell In[{report.trace.cell}], line 4 @@\n-z = y * w\n+z = y.clone() * w.detach()"

    proof = verdict_on(with_diff(report, diff))

    assert (proof.verdict, proof.reason) == ("refuted", "With it no gradient reaches `w` any more.")


def test_where_every_change_is_refuted_none_is_shown(ip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "WAYS", ())
    report = watched(ip, BROKEN)
    vain = f"@@ Cell In[{report.trace.cell}], line 3 @@\n-y.mul_(2)\n+y.mul_(2)  # as before"

    tried = first(with_diff(report, vain).prove())

    assert tried.proof is not None
    assert tried.proof.verdict == "refuted"
    assert (tried.diff, tried.fix) == ("", "No change that was tried cures it.")


def test_a_fix_in_a_module_file_is_tried_without_touching_the_file(
    ip: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gating_in_a_file.py"
    source = "import torch\n\n\ndef gated(x):\n    gate = torch.sigmoid(x)\n    gate[0] = 0.0\n    return gate\n"
    path.write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    run_cell(ip, "import gating_in_a_file")
    module = sys.modules["gating_in_a_file"]
    code = module.gated.__code__

    tried = watched(ip, "gating_in_a_file.gated(x).sum().backward()", "--prove")

    assert first(tried).diff.startswith("@@ gating_in_a_file.py:6 @@")
    assert first(tried).proof.verdict == "proven"  # type: ignore[union-attr]
    assert module.gated.__code__ is code
    assert path.read_text(encoding="utf-8") == source
    importlib.invalidate_caches()
    del sys.modules["gating_in_a_file"]


def test_a_report_from_a_file_says_why_nothing_is_tried_and_a_saved_proof_opens(ip: Any) -> None:
    tried = watched(ip, BROKEN).prove()

    opened = Report.from_json(tried.to_json())

    assert opened.hazards == tried.hazards
    assert tried.to_dict()["hazards"][0]["proof"]["verdict"] == "proven"
    again = first(opened.prove()).proof
    assert again is not None
    assert (again.verdict, "not in this process" in again.reason) == ("not tried", True)


def test_a_proof_is_told_in_the_other_language_too(ip: Any) -> None:
    tried = watched(ip, SILENT).prove()
    chinese = tried.in_language("zh")

    (one,), (other,) = ([h.proof for h in report.hazards if h.proof] for report in (tried, chinese))
    assert one.verdict == other.verdict
    assert one.reason != other.reason
    assert "x" in other.reason
    assert chinese.in_language("en").hazards == tried.hazards


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("open('log.txt', 'a').write('step')", "it changes the file 'log.txt'"),
        ("torch.save(x, 'x.pt')", "it changes the file 'x.pt'"),
        ("import os; os.system('true')", "it runs the command 'true'"),
        ("import os; os.mkdir('made')", "it changes the file 'made'"),
        ("try: open('log.txt', 'a')\nexcept BaseException: pass", "it changes the file 'log.txt'"),
    ],
)
def test_what_cannot_be_done_on_copies_is_not_done_again(
    ip: Any, line: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = watched(ip, f"{line}\n{BROKEN}")
    before = {path.name: path.stat() for path in tmp_path.iterdir()}

    proof = first(report.prove()).proof

    assert proof is not None
    assert proof.verdict == "not tried"
    assert what in proof.reason
    assert {path.name: path.stat() for path in tmp_path.iterdir()} == before


class Counting(nn.Module):
    """A model with state wherever people keep it."""

    calls = 0

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("seen", torch.zeros(3))
        self.seen: torch.Tensor
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        Counting.calls += 1
        self.seen += x.detach().sum(0)
        return torch.sigmoid(self.fc(self.dropout(x)))


@pytest.fixture
def model() -> Iterator[Counting]:
    calls = Counting.calls
    yield Counting()
    Counting.calls = calls


def test_models_optimizers_loaders_hooks_and_generators_are_as_before(model: Counting) -> None:
    numpy = pytest.importorskip("numpy")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(list(torch.randn(4, 3)), batch_size=2, shuffle=True)
    hooked: list[int] = []
    handle = model.fc.register_forward_hook(lambda *_: hooked.append(1))
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    array = numpy.zeros(3)
    try:
        with inplace_magic.watch() as w:
            for batch in loader:
                out = model(batch)
                array += 1
                random.random()
                numpy.random.rand()
                loss = (out * out).sum()
                out.mul_(2)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    except RuntimeError:
        pass
    before = everything(model, optimizer, array, hooked)
    held = (model.fc.weight, model.fc.weight.grad, model.seen, loss, out, batch, dict(model.fc._forward_hooks))

    proof = first(w.report.prove()).proof  # type: ignore[union-attr]

    assert proof is not None
    assert proof.verdict == "proven", proof
    assert everything(model, optimizer, array, hooked) == before
    now = (model.fc.weight, model.fc.weight.grad, model.seen, loss, out, batch, dict(model.fc._forward_hooks))
    assert all(one is other for one, other in zip(held[:-1], now[:-1], strict=True))
    assert held[-1] == now[-1]
    handle.remove()


def everything(model: Counting, optimizer: torch.optim.Optimizer, array: Any, hooked: list[int]) -> Any:
    import numpy

    tensors = [*model.parameters(), *model.buffers(), *(p.grad for p in model.parameters() if p.grad is not None)]
    state = [value for entry in optimizer.state.values() for value in entry.values()]
    return (
        [(tensor._version, tensor.tolist()) for tensor in [*tensors, *state]],
        (Counting.calls, len(hooked), array.tolist(), model.training),
        (torch.get_rng_state().tolist(), random.getstate(), numpy.random.get_state()[1].tolist()),
        (torch.is_grad_enabled(), torch.get_default_dtype(), torch.autograd.grad.__module__),
    )


def test_an_interrupt_while_it_is_tried_puts_everything_back(ip: Any) -> None:
    run_cell(ip, "runs = []\nw = torch.ones(2)\nsteps = 0")
    ip.user_ns["runs"].append(0)
    cell = "steps += 1\nif steps > 1 and w.add_(1)[0] > 1: raise KeyboardInterrupt\n" + BROKEN
    report = watched(ip, cell)
    y, w = ip.user_ns["y"], ip.user_ns["w"]

    with pytest.raises(KeyboardInterrupt):
        report.prove()

    assert ip.user_ns["y"] is y
    assert ip.user_ns["w"] is w
    assert (w.tolist(), w._version, ip.user_ns["steps"]) == ([1.0, 1.0], 0, 1)
    assert ip.user_ns["x"].grad is None


SPLIT = """\
h = x * 1
parts = torch.split(h, 2)
parts[0].mul_(torch.sigmoid(parts[1]))
(parts[0] + parts[1]).sum().backward()
"""


def test_where_no_fact_gives_a_fix_candidates_are_tried_and_the_proven_one_is_shown(ip: Any) -> None:
    report = watched(ip, (PROGRAMS / "reduce_with_iadd_over_branches.py").read_text(encoding="utf-8"))
    assert first(report).diff == ""

    tried = first(report.prove())

    assert tried.diff.endswith("+        return functools.reduce(operator.add, outs)")
    assert tried.proof is not None
    assert tried.proof.verdict == "proven"


def test_of_a_write_that_is_refused_a_candidate_must_leave_the_loss_as_it_is(ip: Any) -> None:
    report = watched(ip, SPLIT)
    assert (first(report).code, first(report).diff) == ("multi-output-view-written", "")

    tried = first(report.prove())

    assert "+parts = [part.clone() for part in torch.split(h, 2)]" in tried.diff
    assert tried.proof is not None
    assert tried.proof.verdict == "other numbers"
    assert "its loss, computed without autograd, is the same bits" in tried.proof.reason
    run_cell(ip, SPLIT.replace("torch.split(h, 2)", "[part.clone() for part in torch.split(h, 2)]"))
    assert ip.user_ns["x"].grad is not None


def test_where_the_program_packs_saved_tensors_itself_nothing_is_called_proven(ip: Any) -> None:
    run_cell(ip, "from torch.utils.checkpoint import checkpoint\nscale = torch.ones(())")
    cell = """\
        def block(t):
            return torch.sigmoid(t * scale) * scale
        loss = checkpoint(block, x, use_reentrant=False).sum()
        scale.mul_(2)
        loss.backward()"""
    report = watched(ip, textwrap.dedent(cell))

    proofs = [hazard.proof for hazard in report.prove().hazards if hazard.severity == "silent"]

    assert proofs
    assert all(proof is not None and proof.verdict != "proven" for proof in proofs)


def test_a_long_loop_is_stopped_some_passes_after_the_one_that_failed(ip: Any) -> None:
    cell = "for n in range(1000):\n    assert n < 20\n    y = torch.sigmoid(x)\n    y.mul_(2)\n    y.sum().backward()"
    report = watched(ip, cell)

    proof = first(report.prove()).proof

    assert proof is not None
    assert proof.verdict == "proven"
    assert "stopped 8 backward passes after the one that failed" in proof.reason


def test_of_several_proven_fixes_the_cheapest_is_shown_with_what_each_costs(ip: Any) -> None:
    cell = "big = torch.ones(1000)\ny = torch.sigmoid(x)\ny[0] = 0.0\ny.sum().backward()"
    report = watched(ip, cell)
    assert first(report).price_bytes == 16

    proof = first(report.prove()).proof

    assert proof is not None
    assert proof.verdict == "proven"
    assert len(proof.prices) > 1
    assert [price.nbytes for price in proof.prices] == sorted(price.nbytes for price in proof.prices)
    assert proof.prices[0].diff == first(report.prove()).diff
    assert all(price.seconds > 0 and price.nbytes >= 4000 for price in proof.prices)
    assert "fixes that are proven" in proof.reason


def test_copies_that_take_over_half_of_what_is_free_are_told_of_beforehand(
    ip: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = watched(ip, BROKEN)
    report.prove()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(room, "free_bytes", lambda _device: 31)  # of 16 B and a view's 16

    report.prove()

    assert capsys.readouterr().err.count("over half of the 0.0 GiB that are free on the CPU") == 1


def test_runs_are_counted_by_a_bar_where_somebody_waits(
    ip: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "DELAY_OF_RUNS", 0.0)
    for there in (False, True):
        monkeypatch.setattr(progress, "is_somebody_there", lambda *_shell, there=there: there)
        run_cell(ip, BROKEN)
        told = run_cell(ip, "%inplace_why").err + capsys.readouterr().err
        assert ("%inplace_why: " in told and "runs" in told) == there


def test_a_library_is_loaded_to_its_end_whatever_it_does_then(
    ip: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was stopped halfway could not be imported again in this session."""
    (tmp_path / "that_writes.py").write_text(f"open({str(tmp_path / 'made')!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    report = watched(ip, BROKEN + "import that_writes\n")
    assert "it changes the file" in proof_of(report).reason

    monkeypatch.setattr(guard, "library_folders", lambda: (str(tmp_path),))

    assert proof_of(report).verdict == "proven"
    sys.modules.pop("that_writes")


def proof_of(report: Report) -> Proof:
    proof = first(report.prove()).proof
    assert proof is not None
    return proof
