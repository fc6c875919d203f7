"""The bodies of tests, functions and methods of ``unittest`` alike, run by somebody else; fixtures are not."""

from __future__ import annotations

import inspect
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

Run = Callable[[pytest.Item, Callable[[], Any], Callable[..., Any]], Any]
"""Gets the test, its body, and the function behind it; gives what the body gave."""


class Bodies:
    """A part of a plugin: runs the body of every test by `run`."""

    def __init__(self, run: Run) -> None:
        self._run_body = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> object | None:
        function = pyfuncitem.obj
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            return None  # whoever runs those does it in its own way
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        self._run_body(pyfuncitem, partial(function, **arguments), function)
        return True

    @contextmanager
    def of(self, item: pytest.Item) -> Iterator[None]:
        """Where the test is a method of ``unittest``, whose body pytest does not call itself."""
        owners = (unittest.TestCase, unittest.IsolatedAsyncioTestCase) if _is_unittest(item) else ()
        originals = [(owner, owner._callTestMethod) for owner in owners]  # type: ignore[attr-defined]
        for owner, original in originals:
            owner._callTestMethod = self._replacement(item, original)  # type: ignore[attr-defined]
        try:
            yield
        finally:
            for owner, original in originals:
                owner._callTestMethod = original  # type: ignore[attr-defined]

    def _replacement(self, item: pytest.Item, original: Callable[..., Any]) -> Callable[..., Any]:
        def _callTestMethod(case: unittest.TestCase, method: Callable[[], Any]) -> Any:
            if case is not getattr(item, "instance", None):  # a suite may hold suites that its tests run
                return original(case, method)
            return self._run_body(item, partial(original, case, method), method)

        return _callTestMethod


def _is_unittest(item: pytest.Item) -> bool:
    owner = getattr(item, "cls", None)
    return inspect.isclass(owner) and issubclass(owner, unittest.TestCase)
