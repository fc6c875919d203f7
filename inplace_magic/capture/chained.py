"""An error and the errors that it came from."""

from __future__ import annotations

from collections.abc import Iterator


def chained(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from and while handling what, and the members of a group; each once."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            todo += (one.__cause__, one.__context__, *getattr(one, "exceptions", ()))
