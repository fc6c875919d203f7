"""What PyTorch traces, exports or compiles runs watched as it runs unwatched, and the report says what was not seen."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from cells import run_cell
from empty_modes import EmptyDispatchMode
from no_harm import programs_compiled, programs_traced
from no_harm.differential import Mode, Program, compare, run

import inplace_magic
from inplace_magic.capture.stepping_aside import doors
from inplace_magic.record import blindness
from inplace_magic.report import Report

PROGRAMS = (*programs_traced.PROGRAMS, *programs_compiled.PROGRAMS)
LEVELS: tuple[Mode, ...] = ("calls", "ops")


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> Iterator[None]:
    yield
    dynamo: Any = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()


def whole(function: Callable[[], Any]) -> Program:
    """A program that makes all it needs itself."""
    return Program(function.__name__, prepare=lambda: None, forward=lambda _: function(), one_call=False)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda function: function.__name__)
def test_program_that_pytorch_traces_or_compiles_does_the_same_watched(program: Callable[[], Any]) -> None:
    plain = run(whole(program), "plain")
    assert (plain.facts["error"] is None) is (program not in _MEANT_TO_RAISE) or "onnx" in str(plain.facts["error"])
    for level in LEVELS:
        found = compare(whole(program), level, plain)
        if found.unsteady:  # torch gives some warnings once per process
            found = compare(whole(program), level)
        assert found.differences == ()
        assert found.births == () or level == "ops"
        assert found.unsteady == ()
        assert found.faults == ()


_MEANT_TO_RAISE = (programs_traced.scripted_functions,)
"""A ReLU of TorchScript saves what it then writes."""


def _python(body: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process of its own, which may die."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(body)], capture_output=True, text=True, check=False
    )


def test_programs_that_killed_the_process_live(tmp_path: Path) -> None:
    """Each of them ended by SIGSEGV within a watch; unwatched they never did. Here all run in one process, at both
    levels, with dynamo imported no earlier than by the watched program itself."""
    done = _python(
        """
        import io, sys, torch, inplace_magic
        import torch._lazy.ts_backend
        torch._lazy.ts_backend.init()
        net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
        two = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))

        def split(x):
            a, b = x.split(2)
            b.add_(1)
            return a * b

        def all_of_it():
            torch.jit.trace(net, torch.rand(2, 4))
            torch.jit.trace(two, torch.randn(2, 3))
            try:
                torch.onnx.export(two, (torch.randn(2, 3),), io.BytesIO(), dynamo=False)
            except Exception as error:
                assert "onnx" in str(error)
            functional = torch.func.functionalize(split)(torch.ones(4))
            lazy = torch.ones(3, 4, device="lazy").add_(1)
            try:
                lazy.t()
            except RuntimeError as error:  # at level ops, as under any dispatch mode, another view operator than plain
                assert "lazy" in str(error)
            f = torch.compile(lambda x: x * 2 + 1, fullgraph=True, backend="eager")
            return [functional, f(torch.ones(3))], f

        for level in ("calls", "ops"):
            assert level == "ops" or "torch._dynamo.eval_frame" not in sys.modules
            with inplace_magic.watch(level=level) as w:
                results, f = all_of_it()
            assert w.report.faults == []
            assert [r.tolist() for r in results] == [[2.0, 2.0], [3.0, 3.0, 3.0]]
            with torch.compiler.set_stance("fail_on_recompile"):
                f(torch.ones(3))
        from torch._dynamo.utils import counters
        assert counters["stats"]["unique_graphs"] == 1, counters
        print("alive")
        """
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


def _report(level: str, function: Callable[[], Any]) -> Report:
    with inplace_magic.watch(level=level) as watch:
        function()
    assert watch.report is not None
    assert watch.report.faults == []
    return watch.report


def _place(report: Report, text: str) -> str:
    """The one sentence of the report's blindness with this text, from its call on."""
    (found,) = [sentence for sentence in report.blindness if text in sentence]
    return found


def test_report_names_the_line_of_what_was_not_seen() -> None:
    traced = torch.jit.trace(lambda t: t.mul_(2), torch.ones(3))
    compiled = torch.compile(lambda t: t + 1, backend="eager")

    def program() -> None:
        x = torch.ones(3)
        torch.jit.trace(programs_traced._flat, x.view(1, 3))
        torch.func.functionalize(programs_traced._small_view)(torch.ones(4))
        torch.export.export(programs_traced.Small().eval(), (torch.rand(3, 4),))
        torch.fx.symbolic_trace(programs_traced.Small())
        compiled(x)
        traced(x)

    for level in LEVELS:
        report = _report(level, program)
        first = program.__code__.co_firstlineno
        here = f"{Path(__file__).name}:"
        assert report.blindness[:6] == [
            f"`torch.jit.trace(programs_traced._flat, x.view(1, 3))` ({here}{first + 2}): what PyTorch ran while it "
            "traced was not seen.",
            f"`torch.func.functionalize(programs_traced._small_view)(torch.ones(4))` ({here}{first + 3}) ran "
            "functionalized: what it did inside was not seen.",
            f"`torch.export.export(programs_traced.Small().eval(), (torch.rand(3, 4),))` ({here}{first + 4}): what "
            "PyTorch ran while it traced was not seen.",
            f"`torch.fx.symbolic_trace(programs_traced.Small())` ({here}{first + 5}): what PyTorch ran while it traced "
            "was not seen.",
            f"`compiled(x)` ({here}{first + 6}) ran compiled: what it did inside was not seen.",
            f"`traced(x)` ({here}{first + 7}) ran TorchScript: what it did inside was not seen.",
        ]
        names = [call.name for call in report.calls]
        assert names[:3] == ["torch.ones", "Tensor.view", "torch.ones"]  # nothing of the first trace
        assert not any("torch.compile" in sentence for sentence in report.blindness)


def test_many_lines_that_were_not_seen_are_counted() -> None:
    compiled = torch.compile(lambda t: t + 1, backend="eager")
    x = torch.ones(2)
    lines = "\n".join(f"compiled(x)  # {number}" for number in range(9))
    code = compile(lines, "many.py", "exec")
    report = _report("calls", lambda: exec(code, {"compiled": compiled, "x": x}))
    assert sum("ran compiled" in sentence for sentence in report.blindness) in (1, 6)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", ["compiled", "scripted", "traced"])
def test_line_that_called_the_writing_function_is_named_although_its_inside_is_not_seen(kind: str, level: str) -> None:
    def double(t: torch.Tensor) -> torch.Tensor:
        t.mul_(2)
        return t + 1

    write: Any = {
        "compiled": lambda: torch.compile(double, backend="aot_eager"),
        "scripted": lambda: torch.jit.script(double),
        "traced": lambda: torch.jit.trace(double, torch.ones(3)),
    }[kind]()
    x = torch.ones(3, requires_grad=True)

    def program() -> None:
        y = torch.sigmoid(x)
        write(y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()

    program()  # so it is without a watch
    (finding,) = [hazard for hazard in _report(level, program).hazards if hazard.severity == "error"]
    assert finding.mutation is not None
    assert finding.saved is not None
    assert (finding.mutation.expression, finding.saved.expression) == ("write(y)", "torch.sigmoid(x)")
    assert (finding.expected_version, finding.found_version) == (0, 1)


@pytest.mark.parametrize("level", LEVELS)
def test_write_into_what_a_compiled_function_saved_is_named_with_both_lines(level: str) -> None:
    save = torch.compile(lambda t: torch.sigmoid(t), backend="aot_eager")
    x = torch.ones(3, requires_grad=True)

    def program() -> None:
        y = save(x)
        y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()

    program()
    (finding,) = [hazard for hazard in _report(level, program).hazards if hazard.severity == "error"]
    assert finding.mutation is not None
    assert finding.saved is not None
    assert (finding.mutation.expression, finding.saved.expression) == ("y.mul_(2)", "save(x)")


@pytest.mark.parametrize("level", LEVELS)
def test_compiled_before_inside_and_after_is_one_compilation(level: str) -> None:
    from torch._dynamo.utils import counters

    for first_inside in (False, True):
        torch._dynamo.reset()
        counters.clear()
        compiled = torch.compile(lambda t: torch.nn.functional.dropout(t * 2, 0.5), backend="aot_eager")
        x = torch.ones(64)
        torch.manual_seed(0)
        plain = None if first_inside else compiled(x)
        torch.manual_seed(0)
        with inplace_magic.watch(level=level) as watch:
            inside = compiled(x)
        torch.manual_seed(0)
        with torch.compiler.set_stance("fail_on_recompile"):
            after = compiled(x)
        assert torch.equal(inside, after)
        assert plain is None or torch.equal(inside, plain)
        assert counters["stats"]["unique_graphs"] == 1
        assert counters["frames"]["total"] == 1
        assert watch.report is not None
        assert [call.name for call in watch.report.calls] == ["torch.compile"]


def test_forced_to_be_eager_a_compiled_function_is_watched() -> None:
    compiled = torch.compile(lambda t: t.sin() + 1, backend="eager")
    x = torch.ones(2)

    def program() -> None:
        with torch.compiler.set_stance("force_eager"):
            compiled(x)

    report = _report("calls", program)
    assert [call.name for call in report.calls] == ["Tensor.sin", "Tensor.add"]
    assert not any("compiled" in sentence for sentence in report.blindness)


@pytest.mark.parametrize("level", LEVELS)
def test_python_function_kept_out_of_the_compiler_is_watched_where_nothing_compiled_called_it(level: str) -> None:
    kept_out = torch.compiler.disable(lambda t: t.sin())
    assert [call.name for call in _report(level, lambda: kept_out(torch.ones(2))).calls] == ["torch.ones", "Tensor.sin"]


@pytest.mark.parametrize("level", LEVELS)
def test_backward_of_a_compiled_function_is_not_recorded_piece_by_piece(level: str) -> None:
    compiled = torch.compile(lambda t: (t * 2).sin().sum(), backend="aot_eager")
    x = torch.ones(3, requires_grad=True)
    report = _report(level, lambda: compiled(x).backward())
    assert x.grad is not None
    assert len(report.calls) < 12
    assert "ran compiled" in _place(report, "`compiled(x).backward()`")


@pytest.mark.parametrize("level", LEVELS)
def test_after_the_work_the_watch_goes_on_and_its_modes_lie_as_before(level: str) -> None:
    class Theirs(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    stacks = []

    def look() -> None:
        stacks.append((torch.overrides._get_current_function_mode_stack(), torch._C._len_torch_dispatch_stack()))

    def fails(t: torch.Tensor) -> torch.Tensor:
        raise KeyboardInterrupt

    compiled = torch.compile(lambda t: t + 1, backend="eager")

    def program() -> None:
        with Theirs():
            look()
            compiled(torch.ones(1))
            look()
            with pytest.raises(KeyboardInterrupt):
                torch.jit.trace(fails, torch.ones(1))
            look()
            with pytest.raises(RuntimeError, match="no compiled frames"), EmptyDispatchMode():
                torch.compile(lambda t: t + 1, fullgraph=True, backend="eager")(torch.ones(1))
            look()
        torch.ones(2).neg_()

    report = _report(level, program)
    assert stacks[0] == stacks[1] == stacks[2] == stacks[3]
    assert [type(mode).__name__ for mode in stacks[0][0]] == ["CallProbe", "Theirs"]
    assert report.calls[-1].name == "Tensor.neg_"


@pytest.mark.parametrize("level", LEVELS)
def test_names_of_pytorch_are_its_own_after_a_watch_and_while_it_is_aside(level: str) -> None:
    import torch._dynamo.eval_frame

    def there() -> list[Any]:
        found = []
        for door in doors.DOORS:
            owner: Any = sys.modules.get(door.module)
            *path, name = door.name.split(".")
            for part in path:
                owner = getattr(owner, part, None)
            found.append(None if owner is None else vars(owner).get(name))
        return found

    torch.compile(lambda t: t + 1, backend="aot_eager")(torch.ones(1))  # all that it imports is imported
    before, finders = there(), list(sys.meta_path)
    inside: list[list[Any]] = []
    with inplace_magic.watch(level=level):
        assert [one is two for one, two in zip(before, there(), strict=True)].count(False) >= 10
        torch.jit.trace(lambda t: (inside.append(there()), t)[1], torch.ones(1), check_trace=False)
    assert all(one is two for one, two in zip(before, there(), strict=True))
    assert sys.meta_path == finders
    kept = {"_maybe_set_eval_frame", "__call__", "_func_increment_nesting"}
    for door, one, two in zip(doors.DOORS, before, inside[0], strict=True):
        assert one is two or (door.while_away and door.name not in kept - {"_maybe_set_eval_frame"})


def test_what_somebody_else_has_put_there_meanwhile_stays() -> None:
    import torch.jit._trace as tracing

    original = tracing._trace_impl
    with inplace_magic.watch():
        theirs = tracing._trace_impl = lambda *args, **kwargs: original(*args, **kwargs)
    try:
        assert tracing._trace_impl is theirs
    finally:
        tracing._trace_impl = original


def test_trace_that_begins_elsewhere_is_neither_recorded_nor_touched() -> None:
    def graph() -> str:
        trace = torch._C._create_function_from_trace
        made = trace("f", programs_traced._flat, (torch.rand(3, 4),), lambda value: "", True, False, ["x"])
        return re.sub(" # .*", "", str(made.graph))  # without the lines of the operators

    plain = graph()
    with inplace_magic.watch() as watch:
        watched = graph()
    assert watched == plain
    assert watch.report is not None
    assert [call.name for call in watch.report.calls] == ["torch.rand"]


@pytest.mark.parametrize("level", LEVELS)
def test_another_thread_compiles_as_it_pleases(level: str) -> None:
    import threading

    compiled = torch.compile(lambda t: t + 1, backend="eager", fullgraph=True)
    results: list[Any] = []
    with inplace_magic.watch(level=level) as watch:
        thread = threading.Thread(target=lambda: results.append(compiled(torch.ones(2))))
        thread.start()
        thread.join()
    assert [result.tolist() for result in results] == [[2.0, 2.0]]
    assert watch.report is not None
    assert watch.report.calls == []


def test_watched_cell_traces_and_compiles(loaded_shell: Any) -> None:
    cell = """%%inplace_watch -o told
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
traced = torch.jit.trace(net, torch.randn(2, 3))
fast = torch.compile(net, backend="eager", fullgraph=True)
y = fast(torch.ones(1, 3))
torch.equal(y, traced(torch.ones(1, 3)))"""
    done = run_cell(loaded_shell, cell)
    assert done.error is None
    assert done.result.result is True
    report = loaded_shell.user_ns["told"]
    assert report.faults == []
    assert _place(report, "traced was not seen").startswith("`torch.jit.trace(net, torch.randn(2, 3))` (Cell In[")
    assert ", line 6) ran compiled" in _place(report, "ran compiled")
    for sentence in report.blindness:  # each is known, so that another language can tell it
        assert any(blindness._pattern(template).fullmatch(sentence) for template in blindness.SENTENCES)


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_functional_tensor_grows_as_it_does_unwatched(level: str) -> None:
    """Asked for its storage, PyTorch's wrapper would refuse: "Attempted to resize a view tensor to a larger size"."""

    def grown() -> tuple[int, ...]:
        functional = torch._to_functional_tensor(torch.ones(8, 2))
        torch._enable_functionalization(reapply_views=True)
        try:
            return tuple((functional + 1).resize_(5, 5).shape)
        finally:
            torch._disable_functionalization()

    with inplace_magic.watch(level=level):
        watched = grown()
    assert watched == grown() == (5, 5)


@pytest.mark.parametrize("level", LEVELS)
def test_tracing_stays_the_same_when_dynamo_has_put_a_wrapper_around_it(level: Mode) -> None:
    """``import torch._dynamo`` replaces ``torch.jit.trace_module`` by a wrapper of its own."""
    import torch._dynamo

    assert hasattr(torch.jit.trace_module, "__wrapped__")
    assert compare(whole(programs_traced.jit_traced_networks), level).differences == ()
