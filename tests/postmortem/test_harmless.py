"""To ask for an answer changes nothing of the program that failed, and ends soon whatever that program left."""

from __future__ import annotations

import gc
import sys
import time
import weakref
from typing import Any

import torch
from postmortem.failing import Failed, program

BROKEN = program("""
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x = torch.randn(5, 3)
    def forward(x):
        h = torch.sigmoid(net(x))
        flat = h.view(-1)
        flat[0] = 1
        return h, flat
    h, flat = forward(x)
    h.sum().backward()
""")


def state_of(namespace: dict[str, Any]) -> list[tuple[Any, ...]]:
    tensors = [namespace[name] for name in ("x", "h", "flat")] + list(namespace["net"].parameters())
    return [(id(t), t._version, t.data_ptr(), t.requires_grad, t.tolist()) for t in tensors]


def test_variables_versions_generators_and_the_last_error_stay() -> None:
    failed = Failed(BROKEN)
    before, random, names = state_of(failed.namespace), torch.get_rng_state(), list(failed.namespace)
    last = getattr(sys, "last_value", None)
    assert failed.certain().certain
    assert state_of(failed.namespace) == before
    assert torch.equal(torch.get_rng_state(), random)
    assert list(failed.namespace) == names
    assert getattr(sys, "last_value", None) is last


STALE = program("""
    w = torch.ones(4, requires_grad=True)
    base = w * 2
    part = base[:2]
    h = base.exp()
    base.mul_(3)
    h.mul_(2)
    h.sum().backward()
""")


def test_a_view_of_written_memory_is_not_brought_up_to_date() -> None:
    """Its ``grad_fn`` is computed anew as it is next read; a ``detach_`` of its base before that changes the result."""

    def afterwards(*, asked: bool) -> Any:
        failed = Failed(STALE)
        if asked:
            failed.certain()
        base, part = failed.namespace["base"], failed.namespace["part"]
        try:
            base.detach_()
            return part.requires_grad, type(part.grad_fn)
        except RuntimeError as refused:  # it depends on whether the view was brought up to date
            return refused.args

    assert afterwards(asked=True) == afterwards(asked=False)


def test_nothing_lives_longer() -> None:
    failed = Failed(BROKEN)
    failed.certain()
    watched = [weakref.ref(failed.namespace[name]) for name in ("x", "h", "flat", "net")]
    gc.collect()
    gc.disable()
    try:
        failed.namespace.clear()
        failed.error = None
        assert [ref() for ref in watched] == [None] * len(watched)
    finally:
        gc.enable()


def test_local_variables_die_with_their_frame() -> None:
    text = program("""
        class Thing: pass
        import weakref
        def main():
            global ref
            thing = Thing()
            ref = weakref.ref(thing)
            h = torch.rand(3, requires_grad=True).exp()
            h += 1
            h.sum().backward()
        main()
    """)
    failed = Failed(text)
    assert failed.certain().certain
    gc.disable()
    try:
        failed.error = None
        assert failed.namespace["ref"]() is None
    finally:
        gc.enable()


def test_no_code_of_the_users_runs() -> None:
    text = program("""
        class Hostile:
            def __getattribute__(self, name): raise AssertionError(name)
            def __getattr__(self, name): raise AssertionError(name)
            def __repr__(self): raise AssertionError
            def __len__(self): raise AssertionError
            def __iter__(self): raise AssertionError
            def __bool__(self): raise AssertionError
            def __eq__(self, other): raise AssertionError
            __hash__ = None
        class Meta(type):
            def __getattribute__(cls, name): raise AssertionError(name)
        class Odd(dict):
            def items(self): raise AssertionError
            def __getitem__(self, key): raise AssertionError
        class Kind(metaclass=Meta): pass
        class Key:
            def __eq__(self, other): raise AssertionError
            __hash__ = object.__hash__
        hostile, odd = Hostile(), Odd(a=1)
        held = [hostile, odd, {Key(): 1}]
        def touch(*things):
            for thing in things:
                kind, other = Kind, thing
            return kind
        if False:
            touch(hostile.x, hostile + 1, hostile[0], len(hostile), odd["a"], odd.get("b"), Kind().x, held[2]["a"])
        def later():
            hostile.x = hostile(1).y
            chosen = hostile if hostile == odd else Kind
            return Kind(hostile), hostile.step(), [each for each in hostile], held[2].get("a"), chosen
        class Net(nn.Module):
            @property
            def secret(self): raise AssertionError
            def forward(self, x):
                h = torch.sigmoid(x)
                h += 1
                return h
        net = Net()
        if torch.rand(1) > 2:
            later()
        y = net(torch.rand(3, requires_grad=True))
        y.sum().backward()
    """)
    answer = Failed(text).certain()
    assert answer.certain


def test_a_subclass_of_tensor_is_asked_nothing() -> None:
    text = program("""
        asked = []
        class Mine(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                asked.append(func)
                return super().__torch_function__(func, types, args, kwargs or {})
        mine = torch.rand(3).as_subclass(Mine)
        y = torch.rand(3, requires_grad=True).exp()
        y.add_(1)
        y.sum().backward()
    """)
    failed = Failed(text)
    failed.namespace["asked"].clear()
    failed.certain()
    assert failed.namespace["asked"] == []


def test_cyclic_containers_and_recursion_end() -> None:
    text = program("""
        ring = []
        ring.append({"again": ring})
        def down(t): return down(t)
        def even(n): return n == 0 or odd(n - 1)
        def odd(n): return n != 0 and even(n - 1)
        even(4)
        y = torch.rand(3, requires_grad=True).exp()
        y.add_(1)
        y.sum().backward()
    """)
    assert Failed(text).certain().certain


def test_a_graph_of_many_nodes_is_cut_and_freed() -> None:
    text = program("""
        x = torch.rand(3, requires_grad=True)
        y = x.sigmoid()
        z = y
        for _ in range(100_000):
            z = z + 1
        y.mul_(2)
        z.sum().backward()
    """)
    failed = Failed(text)
    began = time.process_time()
    answer = failed.certain()
    assert time.process_time() - began < 5  # a walk without bounds would end the process as the graph is freed
    assert answer.limits
    assert not answer.certain
    failed.namespace.clear()
    failed.error = None


def test_a_program_without_end_is_cut() -> None:
    deep = "\n".join(f"{'    ' * depth}for i{depth} in range(9):" for depth in range(18))
    text = program("""
        y = torch.rand(3, requires_grad=True).exp()
        def never():
            pass
        y.add_(1)
    """)
    text += "if False:\n    pass\nif y.sum() > 1e9:\n" + "\n".join("    " + row for row in deep.splitlines())
    text += "\n" + "    " * 19 + "y = y * 1\ny.sum().backward()\n"
    answer = Failed(text).certain()
    assert answer.limits
    assert not answer.certain
