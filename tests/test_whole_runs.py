"""Long runs, of which a part is watched: by a schedule, or with pauses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import inplace_magic
from inplace_magic import OptionError, schedule, watch


def modes() -> int:
    return torch._C._len_torch_function_stack()


def step(write: bool = False, /) -> None:
    probs = torch.sigmoid(torch.ones(3, requires_grad=True))
    if write:
        probs.data[0] = 0.0
    probs.sum().backward()


@pytest.mark.parametrize(
    ("settings", "watched"),
    [
        ({"active": 2}, "111111111111"),
        ({"active": 1, "wait": 2}, "001001001001"),
        ({"active": 2, "wait": 1, "repeat": 2}, "011011000000"),
        ({"active": 1, "wait": 1, "repeat": 1, "skip_first": 4}, "000001000000"),
    ],
)
def test_a_schedule_says_which_steps_are_watched(settings: dict[str, int], watched: str) -> None:
    seen = ""
    with watch(schedule=schedule(**settings)) as w:
        for _step in range(len(watched)):
            seen += str(modes())
            step()
            w.step()
    assert seen == watched
    assert modes() == 0


@pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")
def test_a_schedule_is_that_of_the_profiler() -> None:
    """https://docs.pytorch.org/docs/stable/profiler.html: without warm-up the same steps."""
    for settings in ({"wait": 3, "active": 2, "repeat": 2, "skip_first": 1}, {"wait": 1, "active": 1}):
        theirs = torch.profiler.schedule(warmup=0, **settings)
        ours = schedule(**settings)
        assert [ours(at) for at in range(30)] == [theirs(at).name != "NONE" for at in range(30)]


@pytest.mark.parametrize("settings", [{"active": 0}, {"active": 1, "wait": -1}])
def test_a_schedule_that_cannot_be_is_refused(settings: dict[str, int]) -> None:
    with pytest.raises(OptionError, match="cannot be"):
        schedule(**settings)


def test_each_finding_is_kept_once_and_the_worst_is_the_report() -> None:
    with watch(schedule=schedule(wait=1, active=1)) as w:
        for at in range(10):
            step(at in (3, 4, 5, 7))
            w.step()
    assert w.report is not None
    assert [report.hazards[0].code for report in w.reports] == ["saved-values-changed"]
    assert (w.report.trace, w.report.findings) == (w.reports[0].trace, w.reports[0].findings)


def test_a_gradient_that_is_cleared_in_a_gap_is_no_finding() -> None:
    weight = torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([weight], 0.1)

    def train(clear: bool, /) -> None:
        (weight * 2).sum().backward()
        opt.step()
        if clear:
            opt.zero_grad(set_to_none=False)

    with watch() as uncleared:
        for _step in range(4):
            train(False)
    assert uncleared.report is not None
    assert "gradient-not-cleared" in {hazard.code for hazard in uncleared.report.hazards}, "or this test tests nothing"

    weight.grad = None
    with watch() as w:
        for _step in range(4):
            train(False)
            with watch.paused():
                opt.zero_grad(set_to_none=False)
    assert w.report is not None
    assert [hazard for hazard in w.report.hazards if hazard.severity != "info"] == []


def test_a_pause_is_not_watched_and_ends_with_its_block() -> None:
    seen = []
    with watch() as w:
        step()
        with w.paused():
            seen.append(modes())
            with watch.paused():
                seen.append(modes())
            seen.append(modes())
        seen.append(modes())
        step(True)
    assert seen == [0, 0, 0, 1]
    assert w.report is not None
    assert w.report.hazards[0].code == "saved-values-changed"
    with watch.paused():  # without a watch: nothing
        assert modes() == 0


def test_an_error_whose_forward_lies_before_the_pause_is_explained(capfd: pytest.CaptureFixture[str]) -> None:
    def failing() -> None:
        with watch():
            probs = torch.sigmoid(torch.ones(3, requires_grad=True))
            probs[0] = 0.0
            with watch.paused():
                step()
            probs.sum().backward()

    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        failing()
    assert "overwritten by `probs[0] = 0.0`" in str(
        getattr(caught.value, "__notes__", "overwritten by `probs[0] = 0.0`")
    )


def test_what_a_stretch_says_of_the_future_is_no_finding_while_it_has_not_come() -> None:
    with watch(schedule=schedule(active=1, wait=1)) as w:
        for _step in range(4):
            probs = torch.sigmoid(torch.ones(3, requires_grad=True))
            probs[0] = 0.0
            w.step()  # nobody goes backward through it
    assert w.report is not None
    assert w.reports == ()
    assert w.report.hazards == []


def test_a_run_that_ends_while_nothing_is_watched_has_a_report() -> None:
    with watch(schedule=schedule(active=1, wait=5)) as w:
        step(True)
        w.step()
    assert w.report is not None
    assert w.report.calls == []


def test_step_without_a_schedule_says_what_to_write() -> None:
    with watch() as w, pytest.raises(inplace_magic.InplaceMagicError, match="watch\\(schedule="):
        w.step()


def test_a_generator_may_pause_in_its_midst() -> None:
    def batches() -> Iterator[int]:
        for at in range(3):
            with watch.paused():
                assert modes() == 0
            yield at

    with watch() as w:
        for _batch in batches():
            assert modes() == 1
            step()
    assert w.report is not None
    assert w.report.hazards == []


def test_a_watched_cell_can_be_paused(loaded_shell: InteractiveShell) -> None:
    with capture_output():
        loaded_shell.run_cell("import torch\nfrom inplace_magic import watch")
        done = loaded_shell.run_cell(
            "%%inplace_watch -o report\n"
            "probs = torch.sigmoid(torch.ones(3, requires_grad=True))\n"
            "probs.data[0] = 0.0\n"
            "probs.sum().backward()\n"
            "with watch.paused():\n"
            "    inside = torch._C._len_torch_function_stack()\n"
            "after = torch._C._len_torch_function_stack()"
        )
    done.raise_error()
    assert (loaded_shell.user_ns["inside"], loaded_shell.user_ns["after"]) == (0, 1)
    (hazard,) = loaded_shell.user_ns["report"].hazards
    assert (hazard.code, hazard.mutation.line) == ("saved-values-changed", 3)
