"""What the verdict says, and that it says the truth."""

from __future__ import annotations

import html
import re
from types import ModuleType

import pytest
import torch
from scripts import ROOT, script
from torch import nn

import inplace_magic
from inplace_magic import CompareError
from inplace_magic.render.style import theme_script

FLAGS_PAGE = ROOT / "docs" / "measured" / "inplace-flags.md"


def test_a_difference_is_named_with_tensor_element_and_both_values() -> None:
    def first(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    def second(x: torch.Tensor) -> torch.Tensor:
        result = x + 1
        result[1, 2] = 9.0
        return result

    result = inplace_magic.compare(first, second, inputs=torch.zeros(2, 3), repeats=0)
    assert result.agreement is not None
    (found,) = result.agreement.differences
    assert (found.group, found.name, found.element, found.values) == ("output", "result", (1, 2), ("1", "9"))
    assert (found.differing, found.elements) == (1, 6)
    assert "first `result[1, 2]`: 1 → 9" in result.verdict


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(float("nan"), float("nan"), True), (0.0, -0.0, False), (1.0, 1.0 + 2**-23, False)],
)
def test_same_means_bit_for_bit(one: float, other: float, same: bool) -> None:
    result = inplace_magic.compare(lambda: torch.tensor([one]), lambda: torch.tensor([other]), repeats=0)
    assert result.agreement is not None
    assert (result.agreement.differences == ()) is same


def test_what_is_alive_all_along_counts_for_the_peak_of_code_that_allocates_nothing() -> None:
    result = inplace_magic.compare(lambda x: x * 2, lambda x: x.mul_(2), inputs=torch.zeros(1000), repeats=0)
    assert (result.first.peak_bytes, result.second.peak_bytes) == (8000, 4000)


def test_gradients_are_compared_although_the_code_runs_no_backward() -> None:
    weight = torch.tensor([-1.0, 2.0], requires_grad=True)
    result = inplace_magic.compare(lambda w: w * 2, lambda w: w.detach() + w, inputs=weight, repeats=0)
    assert result.agreement is not None
    assert [(d.group, d.name, d.values) for d in result.agreement.differences] == [
        ("gradient", "inputs[0].grad", ("1", "0.5"))
    ]
    assert any("ran no backward" in note for note in result.notes)


def test_a_variant_that_changes_its_input_is_found() -> None:
    result = inplace_magic.compare(torch.relu, torch.relu_, inputs=-torch.ones(2), repeats=0)
    assert "same outputs, but 1 of 1 input or state value differs, first `inputs[0][0]`: -1 → 0" in result.verdict


def test_a_graph_that_broke_is_explained_by_the_finding() -> None:
    def plain(w: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(w) * 2

    def broken(w: torch.Tensor) -> torch.Tensor:
        probs = torch.sigmoid(w)
        probs.mul_(2)
        return probs

    result = inplace_magic.compare(plain, broken, inputs=torch.ones(2, requires_grad=True), repeats=0)
    assert (result.first.error, result.agreement) == (None, None)
    assert "`plain` runs, `broken` does not" in result.verdict
    assert "RuntimeError in backward of its result" in result.verdict
    assert "`probs.mul_(2)`" in result.verdict
    assert result.second.findings[0].code == "saved-tensor-overwritten"
    assert result.second.findings[0].mutation is not None
    assert result.second.findings[0].mutation.text == "probs.mul_(2)"
    assert result.second.allocations == (result.first.allocations or 0) - 1


def test_when_both_raise_there_is_nothing_to_compare() -> None:
    def fails() -> None:
        raise ValueError("no")

    with pytest.raises(CompareError, match="Both raise: ValueError: no"):
        inplace_magic.compare(fails, fails)


@pytest.mark.parametrize(
    ("first", "inputs", "sentence"),
    [(3, (), "is no callable but an object of type int"), (lambda x: x, (), "missing a required argument: 'x'")],
)
def test_bad_arguments_get_one_sentence(first: object, inputs: object, sentence: str) -> None:
    with pytest.raises(CompareError, match=sentence):
        inplace_magic.compare(first, first, inputs=inputs)  # type: ignore[arg-type]


def test_times_are_taken_in_turns_and_told_with_their_spread() -> None:
    order: list[str] = []
    result = inplace_magic.compare(lambda: order.append("a"), lambda: order.append("b"), repeats=4)
    assert order == []
    assert len(result.first.seconds) == len(result.second.seconds) == 4
    ratio, spread = result.time_ratio or (0.0, 0.0)
    assert ratio > 0
    assert spread >= 0
    assert f"time {ratio:.2f} ± {spread:.2f}" in result.verdict
    frame = result.to_frame("times")
    assert list(frame["repetition"]) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_frames_have_plain_numbers_in_bytes() -> None:
    result = inplace_magic.compare(nn.ReLU(), nn.ReLU(inplace=True), inputs=torch.ones(8), repeats=0)
    frame = result.to_frame()
    assert list(frame["allocated_bytes"]) == [32, 0]
    assert list(frame["variant"]) == ["first ReLU", "second ReLU"]
    with pytest.raises(ValueError, match="There is no view 'lines'"):
        result.to_frame("lines")  # type: ignore[arg-type]


def test_the_bundle_is_html_in_plain_tags_and_text_and_escapes_names() -> None:
    def evil() -> str:
        return "<script>alert(1)</script>"

    evil.__name__ = "<script>"
    bundle = inplace_magic.compare(evil, lambda: "x", repeats=0)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    markup = bundle["text/html"].replace(f"<script>{theme_script()}</script>", "")
    assert "<script" not in markup
    assert "<style" not in markup


def test_text_and_page_show_the_same_tables_and_which_figure_is_better() -> None:
    result = inplace_magic.compare(lambda x: x * 2, lambda x: x.mul_(2), inputs=torch.ones(8), repeats=0)
    page = html.unescape(re.sub("<[^>]*>", "", result.to_html()))
    for told in ("▼ −32 B", "What differs, bit for bit (1)", "8 of 8", "Compute of both", "100.0 %"):
        assert told in result.to_text()
        assert told in page


@pytest.fixture(scope="module")
def flags() -> ModuleType:
    return script("benchmarks/inplace_flags.py")


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", ["ReLU", "SiLU", "Dropout", "AlphaDropout", "ELU"])
def test_the_page_of_flags_says_what_the_code_says(flags: ModuleType, name: str, training: bool) -> None:
    row = flags.measure(name, training=training, elements=1000)
    page = FLAGS_PAGE.read_text(encoding="utf-8")
    section = (
        page.split("## Training\n")[1].split("## Training, on a view")[0] if training else page.split("## Inference")[1]
    )
    (line,) = [line for line in section.splitlines() if line.startswith(f"| `nn.{name}`")]
    cells = [cell.strip() for cell in line.strip("|").split("|")][1:]
    assert [cell.replace(",000,000", ",000") for cell in cells] == row.cells()


def test_the_page_of_flags_has_every_layer_that_has_one(flags: ModuleType) -> None:
    names = list(flags.layers())
    assert len(names) + len(flags.METHODS) >= 20
    page = FLAGS_PAGE.read_text(encoding="utf-8")
    assert all(page.count(f"| `nn.{name}`") == 3 for name in names)
