"""Methods that answer each question once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
Question = ParamSpec("Question")
Answer = TypeVar("Answer")


def remembered(
    method: Callable[Concatenate[Owner, Question], Answer],
) -> Callable[Concatenate[Owner, Question], Answer]:
    """Return the method, whose answers stay with its object, as that of a ``cached_property`` does: what
    ``functools.cache`` holds outlives the object."""
    name = f"_remembered_{method.__name__}"

    @wraps(method)
    def asked(owner: Owner, /, *given: Question.args, **named: Question.kwargs) -> Answer:
        known: dict[tuple[Any, ...], Answer] = owner.__dict__.setdefault(name, {})
        key = (*given, *named.items())
        if key not in known:
            known[key] = method(owner, *given, **named)
        return known[key]

    return asked
