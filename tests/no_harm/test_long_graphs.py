"""Graphs of a hundred thousand nodes are freed under a watch as they are unwatched: torch 2.13 frees a node that was
looked at by recursion, and a watch that looked at all of them would kill the process.

Each program runs first plainly, then watched, in a process with a stack of 2 MiB, where 11,000 such nodes are too many;
one runs with the stack as it is. That the process lives on is what counts.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Sequence
from functools import cache

import pytest
import torch
from forking.starting import python

import inplace_magic
from inplace_magic.record.blindness import TOO_DEEP

pytest.importorskip("resource")  # Windows has none: there a stack's size cannot be set from outside

from no_harm.small_stack import Ran, run

HEAD = """
import gc, sys, threading, torch, inplace_magic

def chain(steps, h=None):
    w = torch.tensor([0.5], requires_grad=True)
    h = w.clone() if h is None else h
    for _ in range(steps):
        h = h * w
    return h
"""
EACH = """
program(None)
print({name!r}, "plain", flush=True)
program(inplace_magic.watch(level=level))
print({name!r}, "watched", flush=True)
"""

PROGRAMS = {
    "a recurrent loop, freed inside the watch": """
def program(watch):
    if watch:
        watch.start()
    h = chain(20_000)
    del h
    if watch:
        watch.leave()
""",
    "a recurrent loop, freed after the watch": """
def program(watch):
    if watch:
        watch.start()
    h = chain(20_000)
    if watch:
        watch.stop()
    del h
""",
    "five operations on a state at each step": """
def program(watch):
    if watch:
        watch.start()
    w = torch.eye(2, requires_grad=True)
    h = torch.ones(2)
    for _ in range(4_000):
        h = (torch.tanh(w @ h) * 0.5 + h).clamp(-1, 1)
    del h
    if watch:
        watch.leave()
""",
    "deep and wide": """
def program(watch):
    if watch:
        watch.start()
    h = torch.ones(1, requires_grad=True).clone()
    for _ in range(1_500):
        h = torch.stack([h * i for i in range(9)]).sum(0)
    del h
    if watch:
        watch.leave()
""",
    "a recurrent network, unrolled by one call": """
def program(watch):
    net = torch.nn.RNN(1, 1)
    x = torch.ones(10_000, 1)
    if watch:
        watch.start()
    out, last = net(x)
    out.sum().backward()
    del out, last
    if watch:
        watch.leave()
""",
    "a graph from before the watch, met in it": """
def program(watch):
    h = chain(50_000)
    if watch:
        watch.start()
    z = h + 1
    z = z * z
    if watch:
        watch.stop(namespace={"h": h, "z": z})
    del h, z
""",
    "a graph from before the watch, freed in it": """
def program(watch):
    h = chain(50_000)
    if watch:
        watch.start()
    z = h.sigmoid()
    del h, z
    if watch:
        watch.stop()
""",
    "a graph that grows from watch to watch": """
def program(watch):
    h = chain(100)
    for _ in range(6):
        if watch:
            watch.start()
        h = chain(4_000, h)
        if watch:
            watch.stop()
    del h
""",
    "a gradient with a long graph of its own": """
def program(watch):
    x = torch.ones(1, requires_grad=True)
    h = chain(12_000, x)
    if watch:
        watch.start()
    (x * 2).sum().backward()
    h.sum().backward(create_graph=True)
    if watch:
        watch.stop(namespace={"x": x})
    x.grad = None
    del h
""",
    "a backward that fails at the end of a long graph": """
def program(watch):
    if watch:
        watch.start()
    h = chain(20_000).exp()
    loss = h * 1
    with torch.no_grad():
        h.add_(1)
    try:
        loss.backward()
    except RuntimeError:
        pass
    del h, loss
    if watch:
        watch.leave()
""",
    "in a thread": """
def program(watch):
    def run():
        if watch:
            watch.start()
        h = chain(20_000)
        del h
        if watch:
            watch.leave()
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
""",
    "in a thread with a small stack": """
def program(watch):
    def run():
        if watch:
            watch.start()
        h = chain(5_000)
        del h
        if watch:
            watch.leave()
    threading.stack_size(1 << 19)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    threading.stack_size(0)
""",
    "a story across cells": """
from IPython.core.interactiveshell import InteractiveShell

def program(watch):
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "inplace_magic")
    shell.push({"chain": chain})
    if watch:
        shell.run_line_magic("inplace_watch", f"on --level {level}")
    assert shell.run_cell("h = chain(6_000)").success
    for _ in range(2):
        assert shell.run_cell("h = chain(6_000, h)").success
    assert shell.run_cell("del h").success
    if watch:
        shell.run_line_magic("inplace_watch", "off")
""",
}
FEW = {
    "ops": ("five operations on a state at each step", "a recurrent loop, freed after the watch", "in a thread"),
    "writes": ("a backward that fails at the end of a long graph",),
}
"""The programs of the other levels."""


LOOKED_AT_ALL = """
h = chain(20_000)
node = h.grad_fn
while node.next_functions and node.next_functions[0][0]:
    node = node.next_functions[0][0]
del node, h
"""


def asked(level: str) -> list[str]:
    """The programs that run at a level."""
    return [name for name in PROGRAMS if level == "calls" or name in FEW[level]]


def together(names: Sequence[str]) -> str:
    """Programs as one, which says what it has done."""
    return HEAD + "".join(textwrap.dedent(PROGRAMS[name]) + EACH.format(name=name) for name in names)


@cache
def first_runs() -> dict[str, Ran]:
    """Of all programs of each level, and of torch alone."""
    programs = {level: (together(asked(level)), level) for level in ("calls", *FEW)}
    programs["torch"] = (HEAD + LOOKED_AT_ALL, "")
    return dict(zip(programs, run([*programs.values()]), strict=True))


@cache
def outcomes(level: str) -> dict[str, str]:
    """What became of each program: all of them in one process, and in another one those behind a crash."""
    left = asked(level)
    found: dict[str, str] = {}
    while left:
        done = run([(together(left), level)])[0] if found else first_runs()[level]
        for name in list(left):
            came = [word for word in ("plain", "watched") if f"{name} {word}\n" in done.stdout]
            left.remove(name)
            found[name] = " ".join(came)
            if len(came) < 2:
                found[name] += f" then {done.returncode} {done.stderr[-2000:]}"
                break
    return found


@pytest.mark.parametrize(("name", "level"), [(name, level) for level in ("calls", *FEW) for name in asked(level)])
def test_a_long_graph_is_freed_as_it_is_unwatched(name: str, level: str) -> None:
    assert outcomes(level)[name] == "plain watched"


def test_a_loop_of_a_hundred_thousand_steps_is_freed_from_the_stack_as_it_is() -> None:
    program = "watch = inplace_magic.watch()\nwatch.start()\nh = chain(100_000)\ndel h\nwatch.leave()\nprint('freed')"
    done = subprocess.run([python(), "-c", HEAD + program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("freed\n", 0), done.stderr


DROPPED_ELSEWHERE = """
watch = inplace_magic.watch()
watch.start()
graphs = [chain(20_000)]
watch.leave()
other = threading.Thread(target=graphs.clear)
other.start()
other.join()
print("freed")
"""


def test_a_graph_of_the_main_thread_is_freed_on_a_thread_whose_stack_is_smaller() -> None:
    """With `ulimit -s unlimited` a thread gets 2 MiB, whatever the main thread has: one of the autograd engine too."""
    import resource

    no_limit = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        pytest.skip("the limit of this process cannot be lifted")
    done = subprocess.run(
        [sys.executable, "-c", HEAD + DROPPED_ELSEWHERE],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, no_limit),
    )
    assert (done.stdout, done.returncode) == ("freed\n", 0), done.stderr


def test_torch_itself_cannot_free_a_graph_whose_nodes_were_all_looked_at() -> None:
    """Why all this: should this test fail, PyTorch frees such graphs again, and the limit can go."""
    done = first_runs()["torch"]
    if torch.__version__ >= "2.13":
        assert done.returncode < 0


@pytest.mark.parametrize("small_stack", [200], indirect=True)
def test_the_report_says_where_it_stopped_and_how_much_was_not_looked_at(small_stack: int) -> None:
    w = torch.tensor([0.5], requires_grad=True)
    with inplace_magic.watch() as watch:
        h = w.clone()
        for _ in range(300):
            h = h * w
    assert watch.report is not None
    assert [*watch.report.faults] == []
    (said,) = (line for line in watch.report.blindness if "were not read" in line)
    read = {meta.node for call in watch.report.calls for meta in call.outputs} - {None}
    assert small_stack - 2 <= len(read) <= small_stack
    place = watch.report.calls[-1].callsite
    assert place is not None
    assert said == TOO_DEEP.format(place=place.place, count=str(301 - len(read)))
    assert not any(meta.is_leaf for call in watch.report.calls[1:] for meta in call.outputs)  # unknown is no leaf


@pytest.mark.parametrize("small_stack", [200], indirect=True)
def test_reading_goes_on_when_the_deep_graph_has_died(small_stack: int) -> None:
    w = torch.tensor([0.5], requires_grad=True)
    with inplace_magic.watch() as watch:
        h = w.clone()
        for _ in range(300):
            h = h * w
        del h
        y = w.sigmoid()
        y.mul_(2)
    assert watch.report is not None
    (finding,) = watch.report.hazards
    assert finding.saved_by == "SigmoidBackward0"


@pytest.mark.parametrize("small_stack", [200], indirect=True)
def test_a_wide_graph_is_seen_whole(small_stack: int) -> None:
    w = torch.tensor([0.5], requires_grad=True)
    kept = []
    with inplace_magic.watch() as watch:
        for _ in range(20):
            h = w.clone()
            for _ in range(small_stack // 4):
                h = h * w
            kept.append(h)
        loss = torch.stack(kept).sum()
    assert watch.report is not None
    assert not any("were not read" in line for line in watch.report.blindness)
    assert all(meta.node is not None for call in watch.report.calls for meta in call.outputs)
    assert loss.grad_fn is not None


@pytest.mark.parametrize("small_stack", [64], indirect=True)
def test_nobody_is_accused_for_a_saver_that_was_not_looked_at(small_stack: int) -> None:
    w = torch.tensor([0.5], requires_grad=True)
    other = w.sigmoid()
    with inplace_magic.watch() as watch:
        h = w.exp()
        for _ in range(100):
            h = h.exp()
            last = h
        last.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            h.sum().backward()
        other.detach()
    assert watch.report is not None
    (finding,) = watch.report.hazards
    assert finding.saved is None
    assert finding.mutation is not None
    assert "last.mul_(2)" in finding.mutation.text


@pytest.fixture
def small_stack(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """As many nodes as may be looked at on one path."""
    from inplace_magic.capture import nodes

    monkeypatch.setattr(nodes, "levels", lambda: request.param)
    monkeypatch.setattr(nodes.DEEP, "alive", 0)
    return int(request.param)
