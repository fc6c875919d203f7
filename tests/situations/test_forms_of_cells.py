"""The forms that code takes in a notebook, in a real kernel: the line that wrote is named in each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from talking_to_kernels import execute, text_of

TELL = "first = report.hazards[0]\nprint(first.code, first.mutation.statement or first.mutation.text)"
BACKWARD = "probs.sum().backward()"
MADE = "probs = torch.sigmoid(torch.ones(3, requires_grad=True))"
EARLIER = "def earlier(probs):\n    probs.mul_(2)\n    return probs"
LONG = "\n".join(f"value_{number} = {number}" for number in range(1_500))
FORMS = {
    "a lambda": (f"scale = lambda t: t.mul_(2)\n{MADE}\nscale(probs)\n{BACKWARD}", "scale = lambda t: t.mul_(2)"),
    "a decorated function": (
        "import functools\ndef plain(f):\n    @functools.wraps(f)\n    def g(*a):\n        return f(*a)\n    return g\n"
        f"@plain\ndef scale(t):\n    t.mul_(2)\n{MADE}\nscale(probs)\n{BACKWARD}",
        "t.mul_(2)",
    ),
    "a generator": (
        f"def steps(t):\n    for _ in range(2):\n        yield t.mul_(2)\n{MADE}\nlist(steps(probs))\n{BACKWARD}",
        "yield t.mul_(2)",
    ),
    "a list comprehension": (
        f"{MADE}\n[probs.mul_(2) for _ in range(2)]\n{BACKWARD}",
        "[probs.mul_(2) for _ in range(2)]",
    ),
    "the body of a class": (f"{MADE}\nclass Holder:\n    scaled = probs.mul_(2)\n{BACKWARD}", "scaled = probs.mul_(2)"),
    "one line of several statements": (f"{MADE}; probs.mul_(2); {BACKWARD}", "probs.mul_(2)"),
    "await and gather": (
        "import asyncio\nasync def scale(t):\n    await asyncio.sleep(0)\n    t.mul_(2)\n"
        f"{MADE}\nawait asyncio.gather(scale(probs), asyncio.sleep(0))\n{BACKWARD}",
        "t.mul_(2)",
    ),
    "a shell command before": (f"!true\n{MADE}\nprobs.mul_(2)\n{BACKWARD}", "probs.mul_(2)"),
    "a function of an earlier cell": (f"{MADE}\nearlier(probs)\n{BACKWARD}", "probs.mul_(2)"),
    "a module": (f"{MADE}\nimport scaling\nscaling.scale(probs)\n{BACKWARD}", "tensor.mul_(2)"),
    "%run of a script": ("%run -i script.py", "probs.mul_(2)"),
    "a cell of 1,500 lines": (f"{LONG}\n{MADE}\nprobs.mul_(2)\n{BACKWARD}", "probs.mul_(2)"),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By form: what a cell below it prints of the report."""
    folder = tmp_path_factory.mktemp("forms")
    (folder / "scaling.py").write_text("def scale(tensor):\n    tensor.mul_(2)\n", encoding="utf-8")
    (folder / "script.py").write_text(f"{MADE}\nprobs.mul_(2)\n{BACKWARD}\n", encoding="utf-8")
    cells: list[str] = [f"import os, sys\nos.chdir({str(folder)!r})\nsys.path.insert(0, os.getcwd())", EARLIER]
    for form, _line in FORMS.values():
        cells += [
            f"%%inplace_watch -o report\n{form}",
            "h = report.hazards[0]\nprint(h.code, h.mutation.statement or h.mutation.text)",
        ]
    ran: list[Any] = execute(cells, allow_errors=True)[2:]
    return {name: text_of(below, "stdout") for name, below in zip(FORMS, ran[1::2], strict=True)}


@pytest.mark.parametrize("form", FORMS)
def test_the_line_that_wrote_is_named(said: dict[str, str], form: str) -> None:
    assert said[form] == f"saved-tensor-overwritten {FORMS[form][1]}\n"


def test_a_module_that_was_edited_and_not_loaded_anew_is_not_quoted(tmp_path: Path) -> None:
    text = "def scale(tensor):\n    tensor.mul_(2)\n"
    (tmp_path / "edited.py").write_text(text, encoding="utf-8")
    later = "SCALE = 3\nOTHER = 4\n" + text.replace("mul_", "add_")
    edit = f"open('edited.py', 'w').write({later!r}) and None"
    cells = [
        f"import os, sys\nos.chdir({str(tmp_path)!r})\nsys.path.insert(0, os.getcwd())\nimport edited",
        edit,
        f"%%inplace_watch\n{MADE}\nedited.scale(probs)\n{BACKWARD}",
    ]
    report = text_of(execute(cells, allow_errors=True)[-1], "report")
    assert "line 2 of an older version of edited.py" in report
    assert "OTHER = 4" not in report
    assert "Load edited.py again" in report
