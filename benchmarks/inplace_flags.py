"""Does ``inplace=True`` matter? Every layer of ``torch.nn`` that has the flag, in training and in inference.

    python benchmarks/inplace_flags.py            writes docs/measured/inplace-flags.md
    python benchmarks/inplace_flags.py --print    prints it instead

Each row is one `inplace_magic.compare` of the out-of-place and the in-place form, so its bytes are those that the
package's own ledger counts at level `ops`, backward included.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

import inplace_magic
from inplace_magic import Comparison

PAGE = Path(__file__).parent.parent / "docs" / "measured" / "inplace-flags.md"
ELEMENTS = 1_000_000
ARGUMENTS = {"Threshold": (0.1, 0.0)}
"""What a layer needs besides the flag."""
SHAPES = {"Dropout1d": (-1, 10, 1000), "Dropout2d": (-1, 10, 10, 100), "Dropout3d": (-1, 10, 10, 10, 10)}
"""What a layer needs its input to look like; all others take the flat tensor."""
SHAPES["FeatureAlphaDropout"] = SHAPES["Dropout2d"]
METHODS: dict[str, Callable[[bool], Callable[[torch.Tensor], torch.Tensor]]] = {
    "sigmoid": lambda inplace: torch.Tensor.sigmoid_ if inplace else torch.Tensor.sigmoid,
    "tanh": lambda inplace: torch.Tensor.tanh_ if inplace else torch.Tensor.tanh,
    "exp": lambda inplace: torch.Tensor.exp_ if inplace else torch.Tensor.exp,
    "square": lambda inplace: torch.Tensor.square_ if inplace else torch.Tensor.square,
    "abs": lambda inplace: torch.Tensor.abs_ if inplace else torch.Tensor.abs,
    "mul(2)": lambda inplace: (lambda x: x.mul_(2)) if inplace else (lambda x: x.mul(2)),
    "clamp(0, 1)": lambda inplace: (lambda x: x.clamp_(0, 1)) if inplace else (lambda x: x.clamp(0, 1)),
}
"""Methods that have no layer with a flag, for comparison."""


@dataclass(frozen=True)
class Row:
    """One comparison."""

    name: str
    result: Comparison

    @property
    def verdict(self) -> str:
        """``saves``, ``saves nothing``, ``costs`` or ``breaks backward``, by the bytes that the run allocates."""
        first, second = self.result.first, self.result.second
        if second.error:
            return "breaks backward"
        difference = (second.allocated_bytes or 0) - (first.allocated_bytes or 0)
        return "saves nothing" if not difference else "saves" if difference < 0 else "costs"

    def cells(self) -> list[str]:
        """Markdown cells: verdict, and the differences in bytes allocated, at the peak and saved for backward."""
        first, second = self.result.first, self.result.second
        if second.error:
            return [f"**{self.verdict}**", "", "", "", ""]
        pairs = (
            (first.allocated_bytes, second.allocated_bytes),
            (first.peak_bytes, second.peak_bytes),
            (first.saved_bytes, second.saved_bytes),
        )
        agreement = self.result.agreement
        same = agreement is not None and not [d for d in agreement.differences if d.group != "state"]
        unseen = first.saved_is_least or second.saved_is_least
        cells = [f"{(other or 0) - (one or 0):+,}".replace("-", "−").replace("+0", "0") for one, other in pairs]
        return [f"**{self.verdict}**", *cells[:2], "unknown" if unseen else cells[2], "yes" if same else "no"]


def layers() -> Iterator[str]:
    """Names of the classes of ``torch.nn`` whose constructor takes ``inplace``."""
    for name in sorted(torch.nn.__all__ if hasattr(torch.nn, "__all__") else dir(torch.nn)):
        cls = getattr(torch.nn, name, None)
        if (
            isinstance(cls, type)
            and issubclass(cls, torch.nn.Module)
            and "inplace" in inspect.signature(cls.__init__).parameters
        ):
            yield name


def make(name: str, inplace: bool) -> Callable[[torch.Tensor], torch.Tensor]:
    """The layer, or the method, in one of its forms."""
    if name in METHODS:
        return METHODS[name](inplace)
    layer: torch.nn.Module = getattr(torch.nn, name)(*ARGUMENTS.get(name, ()), inplace=inplace)
    return layer


def ignores_the_flag(name: str) -> bool:
    """Whether the layer takes ``inplace`` and its ``forward`` never looks at it."""
    return name not in METHODS and "inplace" not in inspect.getsource(getattr(torch.nn, name).forward)


def measure(name: str, *, training: bool, on_a_view: bool = False, elements: int = ELEMENTS) -> Row:
    """Compares the two forms, once, without timing."""
    torch.manual_seed(0)
    shape = SHAPES.get(name, (-1,))
    weight = torch.randn(elements).view(shape).clone().requires_grad_(training)
    gradient = torch.rand(elements).view(shape).clone()

    def variant(inplace: bool) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
        function = make(name, inplace)
        if isinstance(function, torch.nn.Module):
            function.train(training)

        def run(weight: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
            with torch.set_grad_enabled(training):
                result = function((weight * 1.5).view(shape)) if on_a_view else function(weight * 1.5)
                if training:
                    result.backward(gradient)
            return result

        run.__name__ = "in place" if inplace else "out of place"
        return run

    result = inplace_magic.compare(variant(False), variant(True), inputs=(weight, gradient), repeats=0)
    return Row(name, result)


def page(elements: int = ELEMENTS) -> str:
    """The page as Markdown."""
    lines = [
        "# Does `inplace=True` matter?",
        "",
        f"Written by `python benchmarks/inplace_flags.py` with torch {torch.__version__.split('+')[0]} on the CPU, and",
        "not by hand. Each row compares the two forms of one layer on a float32 tensor of",
        f"{elements:,} elements ({4 * elements:,} B), after a multiplication, which does not keep its result:",
        "",
        "```python",
        "result = layer(weight * 1.5)",
        "result.backward(gradient)  # in training",
        "```",
        "",
        "The numbers are bytes, in place minus out of place, at level `ops`, backward included: allocated in all,",
        "at the peak, and saved by autograd. *Saves*, *saves nothing* and *costs* refer to the bytes allocated.",
        "*Same bits*: results and gradients are equal bit for bit.",
        "",
        "Results:",
        "",
        "- In training the flag saves one tensor if backward needs the result or neither tensor (ReLU, ELU,",
        "  LeakyReLU, Dropout, sigmoid, tanh, exp). It saves nothing if backward needs the input (SiLU, Mish,",
        "  Hardswish, Hardtanh, ReLU6, Threshold): autograd then clones the input before it is overwritten.",
        "- That tensor lives only while the layer runs. The peak of a single layer lies in its backward, so it is",
        "  mostly the same here; the peak of a whole model may be lower.",
        "- ELU, CELU and SELU compute their gradient from the result in place, and from the input otherwise: equal",
        "  up to rounding, not bit for bit.",
        "- An in-place operation on a view costs more than it saves: backward copies the gradient of the whole",
        "  base. What its node (`CopySlices`) keeps is unknown.",
        "- In inference every layer that uses its flag saves one tensor; a dropout layer returns its input anyway.",
        "",
        "[^1]: It takes the flag, but its `forward` ignores it.",
        "",
    ]
    for title, training, on_a_view in (
        ("Training", True, False),
        ("Training, on a view: `layer((weight * 1.5).view(shape))`", True, True),
        ("Inference", False, False),
    ):
        lines += [
            f"## {title}",
            "",
            "| layer | verdict | allocated | peak | saved for backward | same bits |",
            "| --- | --- | ---: | ---: | ---: | --- |",
        ]
        rows = [
            measure(name, training=training, on_a_view=on_a_view, elements=elements) for name in (*layers(), *METHODS)
        ]
        for row in rows:
            shown = f"`nn.{row.name}`" if row.name not in METHODS else f"`Tensor.{row.name}`"
            shown += "[^1]" if ignores_the_flag(row.name) else ""
            lines.append(f"| {shown} | {' | '.join(row.cells())} |")
        counts = Counter(row.verdict for row in rows)
        lines += ["", f"{len(rows)} rows: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}.", ""]
    return "\n".join(lines)


def main() -> None:
    """Writes the page."""
    text = page()
    if "--print" in sys.argv[1:]:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
        print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
