"""The clinic: each patient's report names the line and a cure, and what is said of a wrong repair is true of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from cells import run_cell
from lessons.asking import answered, begin, changed, solved, untouched
from lessons.texts import BUILD, TEXTS, code_of, exercise_cells

from inplace_magic.report import Report

FOUND = {
    "10.1": ("saved-tensor-overwritten", "weights *= keep", "write `weights = weights * keep`"),
    "10.2": ("leaf-written", "noise += size * noise.grad.sign()", "with torch.no_grad():"),
    "10.3": ("multi-output-view-written", "log_std.clamp_(-1.0, 1.0)", "`log_std = log_std.clamp(-1.0, 1.0)`"),
    "10.4": ("saved-values-changed", "p.data.clamp_(-0.1, 0.1)", "after backward"),
    "10.5": ("overlapping-write", "prices /= prices[:, :1]", "Make a new tensor"),
    "10.6": ("expanded-tensor-written", "mask[i, :, n:] = 0", "expand(len(lengths), length, length).clone()`"),
    "10.7": (
        "shared-gradient-edited",
        "text_part.register_hook(lambda grad: grad.mul_(0.1))",
        "hook(lambda grad: grad * 0.1)`",
    ),
    "10.8": ("alias-written", "tokens[chosen] = mask_id", "labels = tokens.clone()"),
    "10.9": ("alias-written", "height += speed * dt", "write `height = height + speed * dt`"),
    "10.10": ("same-memory-compared", "optimizer.step()", "copy.deepcopy(model.state_dict())"),
}
"""Exercise -> the finding's code, the line that it blames, and words of its fix."""

SWAPPED = "    tokens[chosen] = mask_id\n    labels = tokens.clone()\n"
WRONG = [
    ("10.1", "weights *= keep", "weights *= keep\n    weights = weights.clone()", "had saved it for backward"),
    ("10.1", "weights *= keep", "weights = weights.detach() * keep", "no gradient goes back through it"),
    ("10.2", "noise +=", "noise = noise +", "bound `noise` to a new tensor"),
    ("10.2", "noise += size * noise.grad.sign()", "noise + size * noise.grad.sign()", "that nothing uses"),
    ("10.3", "log_std.clamp_", "log_std.clamp", "that nothing uses"),
    ("10.3", "log_std.clamp_", "log_std = log_std.detach().clamp", "no gradient goes back through it"),
    ("10.3", "log_std.clamp_", "log_std.data.clamp_", "Make a new tensor: write"),
    ("10.4", "p.data.clamp_", "p.detach().clamp_", "(Cell In[2], line 4"),
    ("10.4", "        p.data.clamp_(-0.1, 0.1)", "        pass", "it should be"),
    ("10.5", "prices[:, :1]", "prices[:, :1].detach()", "writes `prices` while it reads other elements"),
    ("10.5", "prices /= prices[:, :1]", "prices / prices[:, :1]", "no name was bound to it"),
    ("10.6", "return mask", "return mask.clone()", "one element of memory stands for several positions"),
    ("10.6", "mask[i, :, n:] = 0", "pass", "`mask` differs from what was meant in 4 of 27 elements"),
    ("10.7", "grad.mul_(0.1)", "grad.mul_(0.1).clone()", "edits `grad` in place while backward runs"),
    ("10.7", "    text_part.register_hook(lambda grad: grad.mul_(0.1))\n", "", "`text_weight.grad` is"),
    ("10.8", "    return tokens, labels", "    return tokens, labels.clone()", "Make a copy: write"),
    ("10.8", "    labels = tokens\n    tokens[chosen] = mask_id\n", SWAPPED, "made its copy after `tokens[chosen] ="),
    ("10.8", "labels = tokens", "labels = tokens.view(-1)", "gave a view, which is no copy"),
    ("10.9", "torch.stack(path)", "torch.stack([each.clone() for each in path])", "a list holds that very tensor"),
    ("10.9", "height += speed * dt", "height = height.detach()\n        height += speed * dt", "an entry of `path`"),
    ("10.10", "best = model.state_dict()", "best = dict(model.state_dict())", "copies a tensor onto itself"),
    ("10.10", "    model.load_state_dict(best)\n", "", "`optimizer.step()` (Cell In[2], line 11) wrote"),
]  # fmt: skip
"""Exercise, what of its program is replaced by what, and words of the explanation."""


@pytest.fixture
def clinic(loaded_shell: Any) -> Any:
    begin(loaded_shell, "10")
    return loaded_shell


def patients() -> list[str]:
    """The watched cells of the lesson, in order."""
    text = next(text for text in TEXTS if text.name.startswith("10") and text.parent.name == "en")
    return [cell for cell in code_of(BUILD.notebook_of(text)) if cell.startswith("%%inplace_watch")]


def program(key: str) -> str:
    """The program of an exercise as the learner finds it."""
    return exercise_cells("10")[key].rpartition("check(")[0]


def patched(source: str, diff: str) -> str:
    """A program with the report's proposal in it."""
    hunks = re.split(r"^@@ .* @@\n", diff, flags=re.MULTILINE)[1:]
    assert hunks
    for hunk in hunks:
        lines = hunk.rstrip("\n").split("\n")
        old, new = ("\n".join(line[1:] for line in lines if line[0] in f" {sign}") for sign in "-+")
        assert source.count(old) == 1
        source = source.replace(old, new)
    return source


@pytest.mark.parametrize(("key", "cell"), list(zip(FOUND, patients(), strict=True)), ids=list(FOUND))
def test_the_report_names_the_line_and_a_cure(clinic: Any, key: str, cell: str) -> None:
    assert program(key).strip() in cell
    run_cell(clinic, cell.replace("%%inplace_watch", "%%inplace_watch -o report"))
    report = clinic.user_ns["report"]
    assert isinstance(report, Report)
    code, line, fix = FOUND[key]
    worst = report.hazards[0]
    assert (worst.code, worst.mutation.text.strip() if worst.mutation is not None else None) == (code, line)
    assert fix in worst.fix


@pytest.mark.parametrize(("key", "cell"), list(zip(FOUND, patients(), strict=True)), ids=list(FOUND))
def test_the_report_s_own_diff_is_a_cure(clinic: Any, key: str, cell: str) -> None:
    run_cell(clinic, cell.replace("%%inplace_watch", "%%inplace_watch -o report"))
    repaired = patched(exercise_cells("10")[key], clinic.user_ns["report"].hazards[0].diff)
    told = answered(clinic, repaired)
    if key == "10.4":  # that the clipping comes last, behind the step, stands in the exercise and not in the program
        assert told.sentences[0] == "The report is quiet, but the program does not do what was meant."
    else:
        assert told.passed, told


@pytest.mark.parametrize("key", FOUND)
def test_an_untouched_patient_is_told_what_its_report_says(clinic: Any, key: str) -> None:
    told = untouched(clinic, key)
    assert told.status == "wrong"
    assert FOUND[key][1] in " ".join(told.sentences)


@pytest.mark.parametrize("key", FOUND)
def test_the_cured_patient_is_quiet_and_computes_what_was_meant(clinic: Any, key: str) -> None:
    told = solved(clinic, key)
    assert told.passed, told


@pytest.mark.parametrize(("key", "line", "instead", "said"), WRONG)
def test_a_wrong_repair_is_explained_by_its_own_report(
    clinic: Any, key: str, line: str, instead: str, said: str
) -> None:
    told = changed(clinic, key, (line, instead))
    assert told.status == "wrong"
    assert said in " ".join(told.sentences), told


def test_every_patient_has_another_illness() -> None:
    pages = [code for code, _, _ in FOUND.values()]
    assert len(set(pages)) == 9  # a list of one tensor is found as an alias first, and as many slots beside it
