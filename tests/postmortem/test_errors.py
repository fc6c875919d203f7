"""Each of PyTorch's autograd errors, provoked in a cell that nobody watched: the answer names "
"code, line and variable."""

from __future__ import annotations

import ast
import gc
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pytest
import torch
from postmortem import refused
from postmortem.refused import Program, names_of_torch, programs, run, texts

from inplace_magic.language import use_language
from inplace_magic.postmortem import Cell, answer_to
from inplace_magic.postmortem.kinds import KINDS
from inplace_magic.record.answer import Answer

PROGRAMS = list(programs())
REPORTED = list(programs(Path(__file__).parent / "reported.md"))
"""Written after public reports."""


def raising() -> list[Program]:
    return [each for each in (*PROGRAMS, *REPORTED) if each.cause is not None]


@pytest.mark.parametrize("program", raising(), ids=str)
def test_the_answer_names_code_line_and_variable(program: Program) -> None:
    error, answer = run(program.text)
    assert error is not None
    assert answer is not None
    assert (answer.code, answer.variable or program.variable) == (program.code, program.variable or answer.variable)
    assert answer.candidates[0].line == program.cause
    assert answer.place is not None
    assert answer.place.line == program.raises
    assert answer.error.startswith(type(error).__name__)
    assert answer.fix


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.cause is None], ids=str)
def test_the_cured_program_raises_nothing(program: Program) -> None:
    assert run(program.text) == (None, None)


@pytest.mark.parametrize("program", [each for each in raising() if "def " in each.text], ids=str)
def test_the_answer_is_the_same_where_definitions_stand_in_an_earlier_cell(program: Program) -> None:
    """Functions and classes of the program are put into a cell of their own; the lines stay where they were."""
    tree = ast.parse(program.text)
    defined = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    rows = program.text.splitlines()
    last = defined[-1].end_lineno or 0
    before = "\n".join(rows[:last]) + "\n"
    after = "\n".join([*("" for _ in rows[:last]), *rows[last:]]) + "\n"
    _, answer = run(after, (before,))
    assert answer is not None
    assert (answer.code, answer.candidates[0].line) == (program.code, program.cause)


@pytest.mark.parametrize("program", raising(), ids=str)
def test_the_answer_is_the_same_where_statements_share_a_line(program: Program) -> None:
    text, line_of = _joined(program.text)
    _, answer = run(text)
    assert answer is not None
    assert program.cause is not None
    assert (answer.code, answer.candidates[0].line) == (program.code, line_of[program.cause])
    _, alone = run(program.text)
    assert alone is not None
    assert answer.candidates[0].statement == alone.candidates[0].statement


def _joined(text: str) -> tuple[str, dict[int, int]]:
    """Return a program in which neighbouring simple statements stand on one line, and the new number of each line."""
    rows, joined = text.splitlines(), dict[int, int]()
    for node in ast.walk(ast.parse(text)):
        block = getattr(node, "body", None)
        simple: list[ast.stmt | None] = []
        for each in block if isinstance(block, list) else ():
            alone = not hasattr(each, "body") and each.lineno == each.end_lineno
            before = simple[-1] if simple else None
            if alone and before is not None and before.lineno + 1 == each.lineno:
                joined[each.lineno] = joined.get(before.lineno, before.lineno)
            simple.append(each if alone else None)
    line_of, out = dict[int, int](), list[str]()
    for number, row in enumerate(rows, 1):
        if number in joined:
            out[line_of[joined[number]] - 1] += f"; {row.strip()}"
            line_of[number] = line_of[joined[number]]
        else:
            out.append(row)
            line_of[number] = len(out)
    return "\n".join(out) + "\n", line_of


def test_sentences_of_answers_are_in_both_languages() -> None:
    for program in raising():
        _, english = run(program.text)
        with use_language("zh"):
            _, chinese = run(program.text)
        assert english is not None
        assert chinese is not None
        assert chinese.message != english.message
        assert chinese.candidates == english.candidates


@pytest.mark.parametrize(
    "text",
    [
        "torch.ones(2, 3) @ torch.ones(2, 3)\n",
        "raise RuntimeError('a leaf fell from the tree')\n",
        "raise RuntimeError()\n",
        "raise ValueError(('a leaf Variable that requires grad is being used in an in-place operation',))\n",
        "1 / 0\n",
        "torch.ones(2)[5]\n",
    ],
)
def test_any_other_error_has_no_answer(text: str) -> None:
    error, answer = run(text)
    assert error is not None
    assert answer is None


@pytest.mark.parametrize(("code", "version", "text"), list(texts()))
def test_texts_of_other_versions_are_known(code: str, version: str, text: str) -> None:
    found = next((kind.code for kind in KINDS if kind.search(text)), None)
    assert (found, version) == (code, version)


def test_every_code_of_the_table_has_a_program_that_raises_and_a_cured_one() -> None:
    codes = {kind.code for kind in KINDS}
    assert {each.code for each in raising()} == codes
    assert {each.code for each in PROGRAMS if each.cause is None} == codes


def test_reading_runs_nothing_of_the_users() -> None:
    """Neither properties, ``__getattr__``, ``__repr__`` and ``__eq__`` of objects nor what a tensor's class defines."""
    text = """
class Loud:
    def __getattr__(self, name): raise SystemExit(name)
    def __repr__(self): raise SystemExit("repr")
    def __eq__(self, other): raise SystemExit("eq")
    __hash__ = None
    @property
    def weight(self): raise SystemExit("property")


class Own(torch.Tensor):
    quiet = True
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if not cls.quiet: raise SystemExit("function")
        return super().__torch_function__(func, types, args, kwargs or {})


loud = Loud()
own = torch.ones(3).as_subclass(Own).requires_grad_()
h = own * 2
Own.quiet = False
raise RuntimeError(TEXT)
"""
    for program in PROGRAMS:
        error, answer = run(text.replace("TEXT", repr(program.error)))
        assert type(error) is RuntimeError
        assert (answer.code if answer is not None else "gradient-is-none") == program.code  # the line uses no gradient


def test_an_answer_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions, flags, gradients, memory and the number of references of all tensors stay as they were."""
    seen: list[tuple[object, object]] = []

    def watched(error: BaseException, *, namespace: Mapping[str, object], cells: Sequence[Cell]) -> Answer | None:
        before = _facts(namespace)
        answer = answer_to(error, namespace=namespace, cells=cells)
        seen.append((before, _facts(namespace)))
        return answer

    monkeypatch.setattr(refused, "answer_to", watched)
    for program in raising():
        run(program.text)
    assert len(seen) == len(raising())
    assert [before for before, _ in seen] == [after for _, after in seen]


def _facts(namespace: Mapping[str, object]) -> list[tuple[object, ...]]:
    tensors = [(name, each) for name, each in namespace.items() if isinstance(each, torch.Tensor)]
    return [
        (
            name,
            None if each.is_inference() else each._version,
            each.requires_grad,
            each.data_ptr(),
            id(each.grad) if each.is_leaf and each.grad is not None else None,
            sys.getrefcount(each),
        )
        for name, each in tensors
        if not each._is_view()
    ]


def test_an_answer_keeps_no_tensor_alive() -> None:
    for program in raising():
        if "_hook(" in program.text:
            continue  # PyTorch's hooks keep the namespace alive by themselves
        names = names_of_torch()
        error, answer = run(program.text, names=names)
        assert answer is not None
        assert error is not None
        stack = [step.tb_frame for step in _steps(error)]
        alive = [weakref.ref(each) for each in stack[1].f_globals.values() if type(each) is torch.Tensor]
        del error, stack
        gc.collect()
        assert [ref() for ref in alive if ref() is not None] == []


def _steps(error: BaseException) -> Iterator[TracebackType]:
    step = error.__traceback__
    while step is not None:
        yield step
        step = step.tb_next


def test_a_large_namespace_does_not_hide_the_line() -> None:
    text = "held = [[torch.ones(1) for _ in range(100)] for _ in range(200)]\n"
    text += "model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(300)])\n"
    text += "loss = model(torch.ones(2, 4)).detach().mean()\nloss.backward()\n"
    error, answer = run(text)
    assert error is not None
    assert answer is not None
    assert answer.candidates[0].line == 3
