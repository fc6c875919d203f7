"""A suite that somebody else might have written, with everything in it that a run over many suites meets.

It is run by ``test_harness.py`` in processes of its own, from a copy, and is no part of this project's tests.
"""

from __future__ import annotations

import os
import random
import signal
import time
import unittest
import warnings

import pytest
import torch


def modes():
    return torch._C._len_torch_function_stack() + torch._C._len_torch_dispatch_stack()


@pytest.fixture
def number():
    assert modes() == 0, "a fixture was watched"
    yield 3
    assert modes() == 0, "a fixture was watched"


def test_passes(number):
    assert torch.ones(number).add_(1).sum() == 2 * number


def test_fails():
    raise ValueError(f"no such thing as {object()!r}, after 0.123 s")


@pytest.mark.parametrize("size", [1, 2])
def test_of_a_size(size):
    assert torch.rand(size).shape == (size,)


def test_sees_the_watch():
    assert modes() == 0


def test_draws_another_number_when_watched():
    if modes():
        random.random()


def test_warns_of_something_else_when_watched():
    warnings.warn(f"{modes()} modes", UserWarning, stacklevel=1)


def test_leaves_a_mode_when_watched():
    if modes():
        torch.overrides._push_mode(torch.overrides.BaseTorchFunctionMode())


def test_dies_when_watched():
    if modes():
        os.kill(os.getpid(), signal.SIGSEGV)


def test_exits_when_watched():
    if modes():
        os._exit(3)


def test_hangs_when_watched():
    if modes():
        time.sleep(600)


def test_dies_always():
    os.kill(os.getpid(), signal.SIGKILL)


def test_is_different_each_time():
    raise ValueError(f"a number from nowhere: {int.from_bytes(os.urandom(3), 'big')}")


def test_has_a_finding():
    weight = torch.ones(3, requires_grad=True)
    probs = torch.sigmoid(weight)
    probs[0] = 0.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        probs.sum().backward()


@pytest.mark.xfail(reason="known")
def test_is_expected_to_fail():
    raise KeyError("known")


async def test_is_async():
    raise AssertionError


@pytest.mark.skip(reason="not here")
def test_is_skipped():
    raise AssertionError


class OldStyle(unittest.TestCase):
    def setUp(self):
        assert modes() == 0, "setUp was watched"
        self.tensor = torch.zeros(2)

    def tearDown(self):
        assert modes() == 0, "tearDown was watched"

    def test_passes(self):
        self.assertEqual(self.tensor.add_(1).sum(), 2)

    def test_is_skipped_from_inside(self):
        raise unittest.SkipTest("not now")

    def test_runs_a_suite_inside(self):
        class Inner(unittest.TestCase):
            def runTest(self):
                raise ValueError("inside")

        self.assertEqual(len(Inner().run().errors), 1)

    def test_sees_the_watch(self):
        self.assertEqual(modes(), 0)
