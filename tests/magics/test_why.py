"""``%inplace_why`` answers for a cell that nobody watched, and ``%inplace_fix`` hands over the corrected one."""

from __future__ import annotations

import linecache
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from cells import Ran, run_cell
from IPython.core.error import UsageError

from inplace_magic import Report

CELL = "y = torch.sigmoid(x)\ny.mul_(2)\ny.sum().backward()"


@pytest.fixture
def ip(loaded_shell: Any) -> Any:
    """A shell with the extension, torch and a leaf, in its Cell In[1]."""
    run_cell(loaded_shell, "import torch\ntorch.manual_seed(0)\nx = torch.randn(4, requires_grad=True)")
    return loaded_shell


def why(ip: Any, options: str = "") -> Report:
    ran = run_cell(ip, f"%inplace_why -o report {options}")
    assert ran.error is None, ran.err
    assert len(ran.reports) == 1
    report = ip.user_ns["report"]
    assert isinstance(report, Report)
    assert report.faults == []
    return report


def refusal(ran: Ran) -> str:
    assert isinstance(ran.error, UsageError)
    assert ran.reports == []
    return str(ran.error)


def test_the_line_and_a_proven_fix_with_the_numbers_of_the_cell_as_it_ran(ip: Any) -> None:
    run_cell(ip, CELL)

    (finding,) = [hazard for hazard in why(ip).hazards if hazard.severity == "error"]

    assert finding.mutation is not None
    assert finding.saved is not None
    assert (finding.mutation.cell, finding.mutation.line, finding.mutation.text) == (2, 2, "y.mul_(2)")
    assert (finding.saved.cell, finding.saved.line) == (2, 1)
    assert finding.diff == "@@ Cell In[2], line 2 @@\n-y.mul_(2)\n+y = y * 2"
    assert finding.proof is not None
    assert finding.proof.verdict == "proven"


LEAF_BY_A_FUNCTION = """\
class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x.add_(1))
        return x
y = AddOne.apply(x)"""


@pytest.mark.parametrize(
    ("cell", "code", "line"),
    [
        ("pred = torch.relu(x).detach()\npred.sum().backward()", "loss-without-graph", 1),
        (LEAF_BY_A_FUNCTION, "leaf-written", 6),
    ],
)
def test_what_the_error_left_names_the_cell_where_no_call_tells_it(ip: Any, cell: str, code: str, line: int) -> None:
    run_cell(ip, cell)

    (finding,) = [hazard for hazard in why(ip).hazards if hazard.severity == "error"]

    assert finding.mutation is not None
    assert (finding.code, finding.mutation.cell, finding.mutation.line) == (code, 2, line)


def test_variables_gradients_versions_generators_and_what_the_shell_knows_are_as_before(ip: Any) -> None:
    run_cell(ip, "model = torch.nn.Linear(4, 4)\nopt = torch.optim.Adam(model.parameters())\nlog = []")
    run_cell(ip, "model(torch.ones(1, 4)).sum().backward()\nopt.step()")
    run_cell(ip, f"out = model(x) + torch.rand(4)\nlog.append(1)\nprint('step')\n{CELL}")
    names = {name: value for name, value in ip.user_ns.items() if not name.startswith("_")}
    before = state(ip)

    ran = run_cell(ip, "%inplace_why")

    assert "step" not in ran.out
    now = {name: value for name, value in ip.user_ns.items() if not name.startswith("_")}
    assert list(now) == list(names)
    assert all(now[name] is value for name, value in names.items())
    assert state(ip) == before


def state(ip: Any) -> Any:
    names, opt = ip.user_ns, ip.user_ns["opt"]
    tensors = [names["x"], names["y"], *names["model"].parameters(), *(p.grad for p in names["model"].parameters())]
    tensors += [value for entry in opt.state.values() for value in entry.values()]
    return (
        [(tensor._version, tensor.detach().tolist()) for tensor in tensors],
        (names["x"].grad, names["log"], torch.get_rng_state().tolist()),
        [entry for entry in getattr(ip.compile, "_filename_map", {}).items() if entry[1] < 5],
        sorted(name for name in linecache.cache if "again" in name),
    )


def test_a_module_that_an_earlier_cell_made_is_told_to_be_out_of_place_and_that_is_tried(ip: Any) -> None:
    run_cell(ip, "net = torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Dropout(inplace=True))")
    run_cell(ip, "for _ in range(2):\n    net(x * 1).sum().backward()")

    (finding,) = [hazard for hazard in why(ip).hazards if hazard.severity == "error"]

    assert finding.proof is not None
    assert finding.proof.verdict == "proven"
    assert "+    net[1].inplace = False" in finding.diff


def test_earlier_cells_that_built_the_graph_are_found_and_named_and_others_are_left_out(ip: Any) -> None:
    run_cell(ip, "w = torch.ones(4, requires_grad=True)\nopt = torch.optim.SGD([w], lr=1.0)")
    run_cell(ip, "h = torch.exp(x * w)\nloss = (h * w).sum()")
    run_cell(ip, "noise = torch.rand(3)\nnoise.add_(1)")
    run_cell(ip, "w.grad = torch.ones(4)\nopt.step()")
    run_cell(ip, "loss.backward()")

    ran = run_cell(ip, "%inplace_why -o report")

    assert "in this order: Cell In[3], Cell In[5], Cell In[6]." in ran.out
    finding = ip.user_ns["report"].hazards[0]
    assert (finding.severity, finding.mutation.cell, finding.mutation.text) == ("error", 5, "opt.step()")
    assert ip.user_ns["w"].tolist() == [0.0] * 4
    assert finding.saved.cell == 3


def test_a_fix_in_an_earlier_cell_is_tried_there(ip: Any) -> None:
    run_cell(ip, "h = torch.sigmoid(x)")
    run_cell(ip, "h.mul_(2)")
    run_cell(ip, "h.sum().backward()")

    finding = why(ip).hazards[0]

    assert finding.diff.startswith("@@ Cell In[3], line 1 @@")
    assert finding.proof is not None
    assert finding.proof.verdict == "proven"


def test_a_cell_that_touches_files_is_not_run_before_the_user_says_so(
    ip: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_cell(ip, f"with open('log.txt', 'a') as log:\n    log.write('run')\n{CELL}")

    told = refusal(run_cell(ip, "%inplace_why"))

    assert "changes the file 'log.txt'" in told
    assert "`%inplace_why 2 --yes`" in told
    assert (tmp_path / "log.txt").read_text() == "run"
    ran = run_cell(ip, "%inplace_why --yes -o report")
    assert ip.user_ns["report"].hazards[0].proof.verdict == "proven"
    written = (tmp_path / "log.txt").read_text()
    assert f"it changes the file 'log.txt' ({written.count('run') - 1} times)" in ran.out


def test_magics_that_run_their_cell_are_seen_through_and_of_others_the_kind_is_named(ip: Any) -> None:
    run_cell(ip, f"%%time\n{CELL}")
    finding = why(ip).hazards[0]
    assert (finding.mutation.line, finding.saved.line) == (3, 2)  # type: ignore[union-attr]
    assert finding.proof.verdict == "proven"  # type: ignore[union-attr]
    run_cell(ip, "%%writefile /dev/null\nnothing")
    assert "`%%writefile` makes a cell of another kind" in refusal(run_cell(ip, "%inplace_why 4"))


@pytest.mark.parametrize(
    ("maker", "cell"),
    [
        ("handed = []\nx.register_hook(handed.append)\nh = x * 1", "h = torch.exp(h); h.mul_(2); h.sum().backward()"),
        (
            "import numpy\nrow = numpy.ones(4, numpy.float32)\nweights = torch.from_numpy(row)",
            "row += 1; h = torch.exp(x * weights); h.mul_(2); h.sum().backward()",
        ),
        (
            "import threading\nclass Feed:\n    lock = threading.Condition()\n    def rows(self): yield 2.0\n"
            "feed = Feed()\nfeed.open = feed.rows()",
            "h = torch.exp(x * next(feed.open)); h.mul_(2); h.sum().backward()",
        ),
    ],
    ids=["hooks", "NumPy on a tensor's memory", "an object with a generator"],
)
def test_a_cell_that_made_what_cannot_be_copied_runs_before_it(ip: Any, maker: str, cell: str) -> None:
    run_cell(ip, maker)
    run_cell(ip, cell)
    before = {name: id(value) for name, value in ip.user_ns.items() if name in ("handed", "row", "feed", "h")}

    finding = why(ip).hazards[0]

    assert finding.mutation is not None
    assert finding.mutation.cell == 3
    assert finding.proof is not None
    assert finding.proof.verdict == "proven"
    assert {name: id(ip.user_ns[name]) for name in before} == before
    assert len(ip.user_ns.get("handed", [])) == 0
    assert float(ip.user_ns.get("row", [2.0])[0]) == 2.0


LOOP = "for batch in loader:\n    y = torch.sigmoid(x * batch)\n    y.mul_(2)\n    y.sum().backward()"


def test_a_loader_may_have_workers_which_touch_no_files_either(
    ip: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_cell(ip, "Loader = torch.utils.data.DataLoader\nrows = list(torch.ones(2, 4))")
    run_cell(ip, "loader = Loader(rows, num_workers=1, persistent_workers=True)")
    run_cell(ip, LOOP)
    assert why(ip).hazards[0].proof.verdict == "proven"  # type: ignore[union-attr]
    ip.user_ns["loader"]._iterator._shutdown_workers()  # a worker holds the pipes of whatever runs beside this test
    run_cell(
        ip,
        "class Noted(list):\n    def __getitem__(self, row):\n        open(f'{row}.txt', 'a').write('read')\n"
        "        return super().__getitem__(row)\nloader = Loader(Noted(torch.ones(2, 4)), num_workers=1)",
    )
    run_cell(ip, LOOP)
    before = {path.name: path.stat() for path in tmp_path.iterdir()}

    run_cell(ip, "%inplace_why")

    assert {path.name: path.stat() for path in tmp_path.iterdir()} == before
    assert before


def test_what_cannot_be_copied_is_named(ip: Any) -> None:
    x = ip.user_ns["x"]
    ip.user_ns["rows"] = (row for row in [x, x])
    run_cell(ip, "h = torch.sigmoid(next(rows))")
    run_cell(ip, "h.mul_(2)\nh.sum().backward()")

    told = refusal(run_cell(ip, "%inplace_why"))

    assert told.startswith("inplace_why: `rows` (generator) cannot be copied")


def test_a_result_that_no_cell_of_the_history_made_is_named(ip: Any) -> None:
    ip.user_ns["h"] = torch.sigmoid(ip.user_ns["x"])
    run_cell(ip, "h.mul_(2)\nh.sum().backward()")

    assert "`h` cannot be copied: it is a result with a graph (4, MulBackward0)" in refusal(
        run_cell(ip, "%inplace_why")
    )


def test_a_second_run_that_does_not_fail_is_called_just_that(ip: Any) -> None:
    run_cell(ip, "tries = []\nonce = [1]")
    run_cell(ip, f"if once:\n    once.pop()\n    raise RuntimeError('now and then')\n{CELL[:20]}")

    ran = run_cell(ip, "%inplace_why")

    assert "Cell In[3] ran to the end on copies" in ran.out
    assert "before, it raised RuntimeError: now and then" in ran.out
    assert len(ran.reports) == 1


def test_a_second_run_that_fails_otherwise_is_called_just_that(ip: Any) -> None:
    run_cell(ip, "left = [1]")
    run_cell(ip, f"if not left.pop():\n    pass\n{CELL}")

    ran = run_cell(ip, "%inplace_why")

    assert "Cell In[3] raised IndexError: pop from empty list on copies" in ran.out
    assert "before, it raised RuntimeError: one of the variables" in ran.out


def test_what_a_line_magic_runs_is_run_on_copies_too(ip: Any) -> None:
    run_cell(ip, "def step(x):\n    y = torch.sigmoid(x)\n    y.mul_(2)\n    y.sum().backward()")
    run_cell(ip, "%time step(x)")

    finding = why(ip).hazards[0]

    assert finding.mutation is not None
    assert (finding.mutation.cell, finding.mutation.line) == (2, 3)
    assert ip.user_ns["x"].grad is None


def test_an_older_cell_by_its_number_and_none_without_a_failure(ip: Any) -> None:
    assert "No unwatched cell of this session has failed" in refusal(run_cell(ip, "%inplace_why"))
    run_cell(ip, CELL)
    run_cell(ip, "1 / 0")
    assert why(ip).hazards[0].mutation.cell == 3  # type: ignore[union-attr]
    assert why(ip, "3").hazards[0].code == "saved-tensor-overwritten"
    assert "no cell In[99]" in refusal(run_cell(ip, "%inplace_why 99"))
    assert "not 'yesterday'" in refusal(run_cell(ip, "%inplace_why yesterday"))
    run_cell(ip, "%inplace_watch on")
    assert "another watch is on" in refusal(run_cell(ip, "%inplace_why 3"))
    run_cell(ip, "%inplace_watch off")


def test_an_interrupt_stops_it_with_everything_put_back(ip: Any) -> None:
    run_cell(ip, "runs = []\ncount = 0")
    run_cell(ip, f"count += 1\nruns.append(count)\nif count > 1: raise KeyboardInterrupt\n{CELL}")
    y = ip.user_ns["y"]

    ran = run_cell(ip, "%inplace_why")

    assert "interrupted" in ran.out
    assert (ip.user_ns["count"], ip.user_ns["runs"]) == (1, [1])
    assert ip.user_ns["y"] is y


def test_figures_logs_and_the_environment_stay_as_they_are(ip: Any) -> None:
    run_cell(ip, f"import os, logging\nos.environ['STEP_OF_WHY'] = '1'\nlogging.warning('told')\n{CELL}")
    run_cell(ip, "os.environ['STEP_OF_WHY'] = '2'")

    ran = run_cell(ip, "%inplace_why 2")

    assert ran.error is None
    assert "told" not in ran.err
    run_cell(ip, "kept = os.environ.pop('STEP_OF_WHY')")
    assert ip.user_ns["kept"] == "2"


@pytest.fixture
def offered(ip: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """What the shell is asked to put below."""
    asked: list[tuple[str, bool]] = []
    monkeypatch.setattr(ip, "set_next_input", lambda text, replace=False: asked.append((text, replace)))
    return asked


def test_the_corrected_cell_is_put_below_and_not_run(ip: Any, offered: list[tuple[str, bool]]) -> None:
    run_cell(ip, CELL)
    assert "no report yet" in refusal(run_cell(ip, "%inplace_fix")).lower()
    why(ip)

    ran = run_cell(ip, "%inplace_fix")

    assert ran.error is None
    assert offered == [("y = torch.sigmoid(x)\ny = y * 2\ny.sum().backward()", False)]
    assert ip.user_ns["x"].grad is None
    run_cell(ip, offered[0][0])
    assert ip.user_ns["x"].grad is not None
    run_cell(ip, "%%inplace_watch\nz = x * 2")
    assert "No automatic fix" in refusal(run_cell(ip, "%inplace_fix"))
    run_cell(ip, "%inplace_fix 2")
    assert len(offered) == 2
    assert "no report of Cell In[77]" in refusal(run_cell(ip, "%inplace_fix 77")).replace("There is ", "")


def test_changes_of_two_parts_of_one_line_are_made_both(ip: Any, offered: list[tuple[str, bool]]) -> None:
    lines = "y = torch.sigmoid(x)\nz = torch.tanh(x)\ntotal = {}\ny.data.mul_(2)\nz.data.mul_(2)\ntotal.backward()"
    run_cell(ip, f"%%inplace_watch -o report\n{lines.format('(y * z).sum()')}")
    report = ip.user_ns["report"]
    ways = ("(y.clone() * z).sum()", "(y * z.clone()).sum()")
    diffs = [f"@@ Cell In[2], line 4 @@\n-total = (y * z).sum()\n+total = {new}" for new in ways]
    findings = tuple(replace(each, diff=diff) for each, diff in zip(report.hazards, diffs, strict=False))
    assert len(findings) == 2

    patch = replace(report, findings=findings).patch()

    assert "+total = (y.clone() * z.clone()).sum()" in patch
    both = replace(report, findings=(findings[0], replace(findings[1], diff=diffs[1].replace("z.clone()", "z * 2"))))
    assert "+total = (y.clone() * z * 2).sum()" in both.patch()
    same = replace(report, findings=(findings[0], replace(findings[1], diff=diffs[0].replace("y.clone", "y.detach"))))
    assert "+total = (y.clone() * z).sum()" in same.patch(), "of two for one part the first"


def test_a_function_of_another_cell_is_put_below_as_it_was_typed(ip: Any, offered: list[tuple[str, bool]]) -> None:
    typed = "%time 1\ndef gated(x):\n    y = torch.sigmoid(x)\n    y.mul_(2)\n    return y"
    run_cell(ip, typed)
    run_cell(ip, "gated(x).sum().backward()")
    why(ip)

    run_cell(ip, "%inplace_fix")

    assert offered == [(typed.replace("y.mul_(2)", "y = y * 2"), False)]


def test_it_is_said_which_cells_take_the_change(ip: Any, offered: list[tuple[str, bool]]) -> None:
    run_cell(ip, "def body(x):\n    y = torch.sigmoid(x)\n    y.mul_(2)\n    return y")
    run_cell(ip, "body(x).sum().backward()")
    why(ip)
    assert "Run it, and then what follows it again, up to Cell In[3]." in run_cell(ip, "%inplace_fix").out
    run_cell(ip, "y = torch.sigmoid(x)")
    run_cell(ip, "for _ in range(2):\n    y.sum().backward()")
    made = ip.execution_count - 2
    why(ip)

    told = run_cell(ip, "%inplace_fix").out

    assert f"Run Cell In[{made}] again, and then it." in told
    run_cell(ip, f"y = torch.sigmoid(x)\n{offered[-1][0]}")
    assert ip.user_ns["x"].grad is not None


def test_the_patch_of_a_file_elsewhere_is_for_the_root_of_its_repository(
    ip: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "repository"
    (root / "parts").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    path = root / "parts" / "gates_elsewhere.py"
    path.write_text("import torch\n\n\ndef gated(x):\n    gate = torch.exp(x)\n    gate.mul_(2)\n    return gate\n")
    monkeypatch.syspath_prepend(str(path.parent))
    run_cell(ip, "import gates_elsewhere\ngates_elsewhere.gated(x).sum().backward()")

    subprocess.run(["git", "apply", "-"], input=why(ip).patch(), text=True, check=True, cwd=root)

    assert "    gate = gate * 2\n" in path.read_text()


def test_the_patch_of_a_file_is_printed_and_git_takes_it(
    ip: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offered: list[tuple[str, bool]]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "gates_of_a_patch.py"
    path.write_text("import torch\n\n\ndef gated(x):\n    gate = torch.sigmoid(x)\n    gate[0] = 0.0\n    return gate")
    monkeypatch.syspath_prepend(str(tmp_path))
    run_cell(ip, "import gates_of_a_patch")
    run_cell(ip, "gates_of_a_patch.gated(x).sum().backward()")
    why(ip)

    ran = run_cell(ip, "%inplace_fix")

    assert offered == []
    patch = ip.user_ns["report"].patch()
    assert patch.strip() == ran.out.strip()
    subprocess.run(["git", "apply", "-"], input=patch, text=True, check=True, cwd=tmp_path)
    assert "    gate = gate.clone()\n    gate[0] = 0.0\n    return gate" in path.read_text()
    assert not path.read_text().endswith("\n")


def test_the_patch_of_a_cell_is_one_that_git_takes(ip: Any, tmp_path: Path) -> None:
    run_cell(ip, CELL)
    (tmp_path / "In[2].py").write_text(CELL + "\n")

    subprocess.run(["git", "apply", "-"], input=why(ip).patch(), text=True, check=True, cwd=tmp_path)

    assert (tmp_path / "In[2].py").read_text() == "y = torch.sigmoid(x)\ny = y * 2\ny.sum().backward()\n"
