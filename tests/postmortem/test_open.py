"""What the facts leave open stays open: several candidates are several, and what is hidden is unknown."""

from __future__ import annotations

import pytest
from postmortem.failing import Failed, lines_of, program

from inplace_magic.postmortem import answer_to

OPEN = {
    "two branches of one form": """
        y = torch.rand(4, requires_grad=True).exp()
        if y.sum() > 1e9:
            y.mul_(0.1)  # writes
        else:
            y.mul_(0.5)  # writes
        y.sum().backward()
    """,
    "a part of a try, or its handler": """
        y = torch.rand(4, requires_grad=True).sigmoid()
        try:
            y.mul_(torch.randn(3))  # writes
        except RuntimeError:
            y.mul_(torch.randn(4))  # writes
        y.sum().backward()
    """,
}


@pytest.mark.parametrize("case", OPEN)
def test_several_candidates_stay_several(case: str) -> None:
    text = program(OPEN[case])
    answer = Failed(text).certain()
    assert not answer.certain
    assert answer.mutation is None
    assert sorted(site.line for site in answer.candidates) == lines_of(text, "writes")
    assert all(site.text in answer.message for site in answer.candidates)


def test_a_write_by_a_function_whose_text_is_unknown_is_no_fact() -> None:
    hidden: dict[str, object] = {}
    exec(compile("def squeeze_(t):\n    t.mul_(2)", "nowhere.py", "exec"), hidden)
    text = program("""
        y = torch.rand(4, requires_grad=True).exp()
        squeeze(y)
        y.sum().backward()
    """)
    assert not Failed(text, squeeze=hidden["squeeze_"]).certain().certain


def test_what_hooks_packed_is_unknown() -> None:
    text = program("""
        from torch.autograd.graph import saved_tensors_hooks
        seen = []
        x, w = torch.rand(4), torch.rand(4, requires_grad=True)
        with saved_tensors_hooks(lambda t: (t,), lambda packed: seen.append(packed) or packed[0]):
            y = w * x
        s = y.exp()
        s.add_(1)
        s.sum().backward()
    """)
    failed = Failed(text)
    failed.namespace["seen"].clear()
    answer = failed.certain()
    assert answer.saved_by == "ExpBackward0"
    assert failed.namespace["seen"] == []


def test_other_errors_have_no_answer() -> None:
    for error in (ValueError("x"), RuntimeError("shapes cannot be multiplied"), KeyboardInterrupt(), RuntimeError()):
        assert answer_to(error, namespace={}, cells=()) is None


def test_the_text_alone_gives_no_line() -> None:
    error = RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation"
    )
    answer = answer_to(error, namespace={}, cells=())
    assert answer is not None
    assert (answer.candidates, answer.certain, answer.saved_by) == ((), False, None)
