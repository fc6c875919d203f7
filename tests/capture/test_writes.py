"""Level ``writes``: the writer behind a failed backward, at a price and in a memory that a run of hours can pay."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from programs import score
from torch.optim.optimizer import _global_optimizer_pre_hooks
from torch.utils.checkpoint import checkpoint

from inplace_magic import Hazard, watch
from inplace_magic.capture.torch import unpacking
from inplace_magic.capture.torch.writes.probe import WriteProbe

FOLDER = score.packed.FIRST
RAISING = [case for case in score.cases_in(FOLDER) if case["symptom"] == "backward_error"]


def failed(program: Callable[[], object], **settings: int) -> Hazard:
    """What is found of a program whose backward raises."""
    w = watch(level="writes", **settings)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"), w:
        program()
    assert w.report is not None
    assert w.report.faults == []
    (hazard,) = w.report.hazards
    assert (hazard.severity, hazard.raised) == ("error", True)
    return hazard


_NAMES_WRITERS = pytest.mark.skipif(
    unpacking.NEEDED,
    reason="of a failed graph, this PyTorch shows what was saved only by running the hooks that packed",
)


@pytest.mark.parametrize("case", RAISING, ids=[case["case"] for case in RAISING])
@_NAMES_WRITERS
def test_the_writer_is_named_in_every_labelled_program_that_raises(case: dict[str, str]) -> None:
    source = score.source_of(FOLDER, case["case"])
    plain, _wrong, _names = score.outcome_of_file(source, None)
    watched, _wrong, names = score.outcome_of_file(source, "writes")
    assert score.said(plain) == score.said(watched)
    figures = dict(score.judge(case, source, names["report"], above=0))
    assert (figures["culprit"], figures["saved_by"], figures["versions"]) == (True, True, True)


@pytest.mark.parametrize("case", score.cases_in(FOLDER), ids=lambda case: case["case"])
def test_a_labelled_program_has_the_same_bits_as_unwatched(case: dict[str, str]) -> None:
    source = score.source_of(FOLDER, case["case"])
    outcomes = []
    for level in (None, "writes"):
        torch.manual_seed(0)
        error, wrong, names = score.outcome_of_file(source, level)
        bits = {
            name: (value.detach().flatten().tolist(), value._version, str(value.grad_fn).partition(" ")[0])
            for name, value in names.items()
            if isinstance(value, torch.Tensor) and not value.is_sparse
        }
        outcomes.append((score.said(error), wrong, repr(bits)))
    assert outcomes[0] == outcomes[1]


@_NAMES_WRITERS
def test_what_was_not_recorded_has_no_table() -> None:
    def program() -> None:
        probs = torch.sigmoid(torch.ones(3, requires_grad=True))
        probs[0] = 0.0
        probs.sum().backward()

    w = watch(level="writes")
    with pytest.raises(RuntimeError, match="modified by an inplace operation"), w:
        program()
    assert w.report is not None
    text = w.report.to_text() + w.report.to_html()
    assert "probs[0] = 0.0" in text
    assert "Memory by line" not in text
    assert "0 B" not in text


@_NAMES_WRITERS
def test_what_it_cannot_say_is_said() -> None:
    def program() -> None:
        probs = torch.sigmoid(torch.ones(3, requires_grad=True))
        probs[0] = 0.0
        probs.sum().backward()

    hazard = failed(program)
    assert hazard.mutation is not None
    assert hazard.mutation.text == "probs[0] = 0.0"
    assert (hazard.saved, hazard.saved_by) == (None, "SigmoidBackward0")
    assert "had saved it for backward, at a line that level `writes` does not record" in hazard.message


@_NAMES_WRITERS
def test_a_write_that_the_ring_has_forgotten_is_not_made_up() -> None:
    def program() -> None:
        probs = torch.sigmoid(torch.ones(3, requires_grad=True))
        probs[0] = 0.0
        other = torch.zeros(3)
        for _write in range(20):
            other.add_(1)
        probs.sum().backward()

    w = watch(level="writes", max_events=5)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"), w:
        program()
    assert w.report is not None
    (hazard,) = w.report.hazards
    assert hazard.mutation is None
    assert "It is unknown which write it was" in hazard.message
    assert "already discarded the first write after the save" in " ".join(w.report.blindness)


def test_an_address_that_is_used_again_does_not_accuse_the_earlier_write() -> None:
    """The allocator gives the memory of a dead tensor to the next of its size: a write into the dead one is no write
    into the one that was saved, although address and version are the same."""
    addresses = []

    def write_and_die() -> None:
        dead = torch.zeros(1000)
        addresses.append(dead.data_ptr())
        dead.add_(1)  # version 1, at this address

    def program() -> None:
        logits = torch.ones(1000, requires_grad=True)
        write_and_die()
        probs = torch.sigmoid(logits)
        addresses.append(probs.data_ptr())
        torch.autograd.graph.increment_version(probs)  # by nobody whom the watch sees
        probs.sum().backward()

    for _attempt in range(20):
        addresses.clear()
        hazard = failed(program)
        assert hazard.mutation is None
        if addresses[0] == addresses[1]:
            return
    pytest.skip("this allocator gave no address twice")


@_NAMES_WRITERS
def test_what_hooks_packed_is_not_unpacked() -> None:
    """Under a checkpoint, ``_saved_…`` runs the user's function again."""
    runs = []

    def block(x: torch.Tensor) -> torch.Tensor:
        runs.append(1)
        return torch.sigmoid(x)

    def program() -> None:
        x = torch.ones(3, requires_grad=True) * 1
        y = checkpoint(block, x, use_reentrant=False)
        z = torch.sigmoid(y)
        z[0] = 0.0
        z.sum().backward()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        program()
    plain, runs[:] = len(runs), []
    hazard = failed(program)
    assert hazard.mutation is not None
    assert len(runs) == plain


def test_a_healthy_run_keeps_no_more_than_the_newest_writes() -> None:
    seen: list[WriteProbe] = []

    def mode() -> WriteProbe:
        (on,) = torch.overrides._get_current_function_mode_stack()
        assert isinstance(on, WriteProbe)
        return on

    with watch(level="writes", max_events=50) as w:
        total = torch.zeros(3)
        for _step in range(1000):
            total.add_(1)
            total = total * 1
        seen.append(mode())
        assert (len(seen[0].ring), seen[0].count) == (50, 1000)
    assert w.report is not None
    assert w.report.calls == []
    assert w.report.hazards == []
    assert w.report.verdict == ("• Nothing was judged: level `writes` only names the writer when a backward fails.")


def test_what_runs_compiled_is_recorded_no_more_than_the_rest() -> None:
    scripted = torch.jit.CompilationUnit("def halved(x: Tensor):\n    return x.sin() * 0.5\n").halved
    x = torch.ones(3, requires_grad=True)
    with watch(level="writes") as w:
        y = scripted(x)
        y.sum().backward()
    assert w.report is not None
    assert w.report.faults == []
    assert y.grad_fn is not None
    assert y.grad_fn.metadata == {}
    assert x.grad is not None


@pytest.mark.parametrize(("level", "asked"), [("writes", False), ("calls", True)])
def test_no_optimizer_and_no_module_is_asked_what_it_holds(level: str, asked: bool) -> None:
    """All of it is for findings that this level does not have, and a step of tiny layers would pay for it."""
    tables = (
        _global_optimizer_pre_hooks,
        torch.nn.modules.module._global_parameter_registration_hooks,
    )
    before = [len(table) for table in tables]
    with watch(level=level):
        seen = [len(table) > most for table, most in zip(tables, before, strict=True)]
    assert seen == [asked] * len(tables)


def test_nothing_of_the_user_s_is_kept_alive() -> None:
    import gc
    import weakref

    gc.disable()
    try:
        with watch(level="writes"):
            tensor = torch.zeros(3)
            tensor.add_(1)
            there = weakref.ref(tensor)
            del tensor
            assert there() is None
    finally:
        gc.enable()


@_NAMES_WRITERS
def test_a_story_of_cells_is_told_too(loaded_shell: InteractiveShell) -> None:
    with capture_output():
        for cell in (
            "import torch\n%inplace_watch on --level writes -o report",
            "probs = torch.sigmoid(torch.ones(3, requires_grad=True))",
            "probs[0] = 0.0",
            "probs.sum().backward()",
        ):
            loaded_shell.run_cell(cell, store_history=True)
    (hazard,) = loaded_shell.user_ns["report"].hazards
    assert "`probs` was overwritten by `probs[0] = 0.0` (Cell In[3], line 1)" in hazard.message
    with capture_output():
        loaded_shell.run_cell("%inplace_watch off")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 keeps our own frame in a bare `raise`")
def test_tracebacks_are_those_of_the_program() -> None:
    def entries(on: bool, /) -> list[str]:
        probs = torch.sigmoid(torch.ones(3, requires_grad=True))
        probs[0] = 0.0
        try:
            if on:
                with watch(level="writes"):
                    probs.sum().backward()
            else:
                probs.sum().backward()
        except RuntimeError as error:
            found, traceback = [], error.__traceback__
            while traceback is not None:
                found.append(traceback.tb_frame.f_code.co_name)
                traceback = traceback.tb_next
            return found
        raise AssertionError

    assert entries(True) == entries(False)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        probs = torch.sigmoid(self.layers[1](self.layers[0](x)))
        probs *= 2
        return probs


@_NAMES_WRITERS
def test_the_module_behind_the_node_is_named_by_the_names_of_the_function_that_has_it() -> None:
    def program() -> None:
        net = Net()
        net(torch.ones(1, 3)).sum().backward()

    hazard = failed(program)
    assert hazard.saved_by == "SigmoidBackward0"
    assert "SigmoidBackward0, in or after `net.layers[1]` (Linear), had saved it for backward" in hazard.message


@_NAMES_WRITERS
def test_a_module_that_no_name_reaches_is_not_made_up() -> None:
    def program() -> None:
        torch.nn.Linear(3, 3)(torch.ones(1, 3)).sigmoid().mul_(2).sum().backward()

    hazard = failed(program)
    assert hazard.mutation is not None
    assert "after SigmoidBackward0 had saved it for backward, at a line" in hazard.message


@_NAMES_WRITERS
def test_a_flag_that_is_given_by_its_place_counts_as_a_write() -> None:
    def program() -> None:
        probs = torch.sigmoid(torch.ones(3, requires_grad=True))
        torch.nn.functional.relu(probs, True)
        probs.sum().backward()

    hazard = failed(program)
    assert hazard.mutation is not None
    assert hazard.mutation.text == "torch.nn.functional.relu(probs, True)"


@pytest.mark.skipif(not unpacking.NEEDED, reason="this PyTorch shows what a failed graph keeps")
def test_where_the_failed_graph_cannot_be_read_no_writer_is_named_and_that_is_said() -> None:
    def program() -> None:
        x = torch.ones(3, requires_grad=True).sigmoid()
        x[0] = 0
        x.sum().backward()

    with pytest.raises(RuntimeError), watch(level="writes") as watched:
        program()
    (hazard,) = watched.report.hazards
    assert (hazard.mutation, hazard.raised) == (None, True)
    assert any("does not show which node refused" in line for line in watched.report.blindness)
