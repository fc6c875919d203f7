"""Which text a code object was compiled from."""

from __future__ import annotations

import ast
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from inplace_magic.source.places import Sources
from inplace_magic.source.text import Text
from inplace_magic.source.versions import names_stand_in, twin_of

TEXT = '''\
from __future__ import annotations
import math
try:
    import torch
except ImportError:
    torch = None


class Encoder:
    """A class.

    With more to say."""

    scale = math.pi

    @staticmethod
    def plain(x):
        return torch.relu(x)

    def forward(self, x, __hidden=3):
        super().__init__()
        rows = [torch.relu(row) for row in x]
        return self.__twice(lambda: rows)

    def __twice(self, f):
        """Says.

        More."""
        return f() + f(), math.floor(2.5), 0.0

    class Inner:
        def forward(self, x):
            return x


if math.pi > 3:

    def chosen(x):
        def inside(y):
            return y * x

        return inside
'''


def codes_of(text: str, filename: str = "module.py") -> dict[str, CodeType]:
    """All code objects of a text by a name of their own."""
    found: dict[str, CodeType] = {}

    def visit(code: CodeType) -> None:
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                found[f"{getattr(constant, 'co_qualname', constant.co_name)}:{constant.co_firstlineno}"] = constant
                visit(constant)

    visit(compile(text, filename, "exec", dont_inherit=True))
    return found


def text_of(source: str) -> Text:
    return Text(source.splitlines())


def test_every_function_and_class_of_a_text_is_found_in_it() -> None:
    text = text_of(TEXT)
    for name, code in codes_of(TEXT).items():
        twin = twin_of(code, text)
        assert twin is not None, name
        assert twin.code is code, name


def test_functions_that_moved_are_found_at_their_new_lines() -> None:
    text = text_of("# moved\n" + TEXT.replace("class Encoder", "# and\nclass Encoder"))
    for name, code in codes_of(TEXT).items():
        twin = twin_of(code, text)
        without_a_name = code.co_name.startswith("<") and not hasattr(code, "co_qualname")  # Python 3.10
        if not without_a_name:
            assert twin is not None, name
            assert twin.code.co_firstlineno == code.co_firstlineno + (2 if code.co_firstlineno > 7 else 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [("torch.relu(row)", "torch.exp(row)"), ("2.5", "2.25"), ("0.0", "-0.0"), ("y * x", "y + x"), ("f() + f()", "f()")],
)
def test_a_function_with_another_instruction_is_no_twin(old: str, new: str) -> None:
    text = text_of(TEXT.replace(old, new))
    changed = [name for name, code in codes_of(TEXT).items() if not twin_of(code, text)]
    assert changed
    assert any(old in line for line in TEXT.splitlines())
    assert len(changed) <= 3  # it, and what holds it


def test_of_two_equal_functions_that_moved_none_is_taken() -> None:
    (code,) = codes_of("def f(x):\n    return x * 2\n").values()
    twice = "\n\ndef f(x):\n    return x * 2\n\n\ndef f(x):\n    return x * 2\n"
    assert twin_of(code, text_of(twice)) is None


def test_statements_outside_of_functions_are_known_by_the_names_that_they_load() -> None:
    source = 'import torch\nx = torch.ones(3)\nprint(f"""{x}\n {x.sum():.3f}""")\nfor row in (x, x):\n    row *= 2\n'
    code, text = compile(source, "script.py", "exec", dont_inherit=True), text_of(source)
    for line in range(1, 7):
        assert names_stand_in(text, code, line, None), line
    for old, new in (("row *= 2", "SCALE = 2"), ("row *= 2", "# scale"), ("row *= 2", "col *= 2")):
        assert not names_stand_in(text_of(source.replace(old, new)), code, 6, None)


def test_a_function_whose_assertions_pytest_rewrote_keeps_its_text() -> None:
    value = [3]
    assert value == [3]
    place = place_of_here(value)
    assert (place.text, place.outdated) == ("place = place_of_here(value)", False)


def place_of_here(_value: Any) -> Any:
    import sys

    frame = sys._getframe(1)
    return Sources().locate(frame.f_code, frame.f_lasti, None)


def test_in_a_file_that_is_no_python_any_more_no_line_is_quoted_that_did_not_run(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def f(x):\n    if (\n", encoding="utf-8")
    (code,) = codes_of("def f(x):\n    return x.relu()\n", str(path)).values()
    place = Sources().locate(code, len(code.co_code) - 2, None)
    assert (place.line, place.text, place.outdated) == (2, "", True)


def test_of_a_large_file_only_what_ran_is_compiled_and_walked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    many = "".join(f"class C{number}:\n    def f(self, x):\n        return x + {number}\n" for number in range(500))
    path = tmp_path / "large.py"
    path.write_text(many, encoding="utf-8")
    code = codes_of(many, str(path))["C7.f:23" if hasattr(CodeType, "co_qualname") else "f:23"]
    visited, compiled = [], []
    walk, build = ast.walk, compile
    monkeypatch.setattr(ast, "walk", lambda node: (visited.append(found) or found for found in walk(node)))

    def counting(source: Any, *rest: Any, **more: Any) -> Any:
        if isinstance(source, ast.Module):
            compiled.append(len(source.body))
        return build(source, *rest, **more)

    monkeypatch.setattr("inplace_magic.source.versions.compile", counting, raising=False)
    sources = Sources()
    assert sources.locate(code, len(code.co_code) - 4, None).text == "return x + 7"
    assert sources.aliases() == ()
    assert compiled == [1]
    assert len(visited) < 100
