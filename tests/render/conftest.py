"""Golden files: whole outputs, kept beside the tests and read like code.

``pytest tests/render --rewrite-golden`` writes them anew from what the renderers give now; look at the diff.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write tests/render/golden anew from the output")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Asserts that a text is that of a golden file; with ``--rewrite-golden`` it becomes that file."""
    rewrite = request.config.getoption("--rewrite-golden", default=False)

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if rewrite:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), (
            f"{name} differs; if that is meant, `pytest tests/render --rewrite-golden`"
        )

    return check
