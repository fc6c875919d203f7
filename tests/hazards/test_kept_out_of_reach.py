"""What a forward hook kept where no name leads to the model or to what was kept."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from cells import run_cell
from hazards.both_ways import told
from hazards.running import IMPORTS, plainly, watched

CODE = "kept-activation-overwritten"

MAIN = """
def main():
    torch.manual_seed(0)
    acts = {}
    conv = nn.Conv2d(1, 2, 3)
    net = nn.Sequential(conv, nn.ReLU(inplace=True), nn.MaxPool2d(2))
    %s
    y = net(torch.randn(1, 1, 6, 6))
    return acts["a"].min().item()
lowest = main()
"""
KEEPING = {
    "a_function": """
    def keep(module, given, out):
        acts["a"] = out
    conv.register_forward_hook(keep)
    """,
    "a_function_that_detaches": """
    def keep(module, given, out):
        acts["a"] = out.detach()
    conv.register_forward_hook(keep)
    """,
    "a_lambda": "conv.register_forward_hook(lambda module, given, out: acts.update(a=out))",
    "a_function_of_the_name": """
    def keep(name):
        def hook(module, given, out):
            acts[name] = out
        return hook
    conv.register_forward_hook(keep("a"))
    """,
    "a_method": """
    class Keeper:
        def take(self, module, given, out):
            acts["a"] = out
    conv.register_forward_hook(Keeper().take)
    """,
}
HEALTHY = {
    "on_the_writer": "net[1].register_forward_hook(lambda module, given, out: acts.update(a=out))",
    "on_both": """
    conv.register_forward_hook(lambda module, given, out: print(out.shape))
    net[1].register_forward_hook(lambda module, given, out: acts.update(a=out))
    """,
    "of_a_copy": "conv.register_forward_hook(lambda module, given, out: acts.update(a=out.clone()))",
    "of_the_input_of_the_next": """
    conv.register_forward_hook(lambda module, given, out: print(out.shape))
    net[2].register_forward_pre_hook(lambda module, given: acts.update(a=given[0]))
    """,
    "on_a_layer_that_computes_nothing": """
    net.insert(2, nn.Identity())
    conv.register_forward_hook(lambda module, given, out: acts.update(shape=out.shape))
    net[2].register_forward_hook(lambda module, given, out: acts.update(a=out))
    """,
    "of_the_input_of_the_next_convolution": """
    conv.register_forward_hook(lambda module, given, out: acts.update(first=out))
    net.insert(2, nn.Conv2d(2, 2, 1))
    net[2].register_forward_hook(lambda module, given, out: acts.update(a=given[0]))
    """,
    "with_a_writer_that_makes_its_own": """
    net[1].inplace = False
    conv.register_forward_hook(lambda module, given, out: acts.update(a=out))
    """,
}
RETURNED = """
def main():
    acts = {}
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(inplace=True))
    net[0].register_forward_hook(lambda module, given, out: acts.update(shape=out.shape))
    y = net(torch.randn(1, 1, 6, 6))
    return y.min().item()
lowest = main()
"""


def program(hook: str) -> str:
    return MAIN % textwrap.indent(textwrap.dedent(hook).strip(), "    ").strip()


@pytest.mark.parametrize("name", KEEPING)
def test_it_is_found_in_a_function(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, program(KEEPING[name]))
    assert ran.plain is None
    assert ran.names["lowest"] == 0.0  # a convolution of noise gives negative numbers too; nothing was said
    for finding in ran.the(CODE):
        assert finding.severity == "warning"
        assert finding.mutation is not None
        assert finding.mutation.text == "y = net(torch.randn(1, 1, 6, 6))"
        assert finding.read is not None
        assert finding.read.text == 'return acts["a"].min().item()'
        assert "`Conv2d`" in finding.message
        assert "`ReLU`" in finding.message


def test_it_is_found_with_the_watch_inside_the_function(tmp_path: Path) -> None:
    lines = program(KEEPING["a_function"]).strip().splitlines()
    at = next(i for i, line in enumerate(lines) if "torch.manual_seed" in line)
    end = next(i for i, line in enumerate(lines) if line.startswith("lowest"))
    inner = [f"    {line}" for line in lines[at:end]]
    inner[-1] = inner[-1].replace("return ", "low = ")
    source = "\n".join((IMPORTS, "import inplace_magic", "def main():", "    with inplace_magic.watch() as seen:"))
    source += "\n" + "\n".join(inner) + "\n    return low, seen.report\nlow, report = main()\n"
    file = tmp_path / "inside.py"
    file.write_text(source)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, str(file), "exec"), names)
    assert names["low"] == 0.0
    (finding,) = [hazard for hazard in names["report"].hazards if hazard.code == CODE]
    assert finding.mutation.text == "y = net(torch.randn(1, 1, 6, 6))"


def test_it_is_found_by_a_cell_that_calls_a_function_of_another_cell(loaded_shell: Any) -> None:
    body = program(KEEPING["a_function"]).strip().rsplit("\n", 1)[0]
    run_cell(loaded_shell, f"{IMPORTS}\n{body}")
    run_cell(loaded_shell, "%%inplace_watch -o report\nlowest = main()")
    report = loaded_shell.user_ns["report"]
    assert report.faults == []
    (finding,) = [hazard for hazard in report.hazards if hazard.code == CODE]
    assert finding.mutation.text == "y = net(torch.randn(1, 1, 6, 6))"


@pytest.mark.parametrize("name", HEALTHY)
def test_a_hook_that_keeps_what_is_not_rewritten_is_no_finding(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, program(HEALTHY[name]))
    assert ran.plain is None
    assert [code for found in ran.alarms for code, _ in found if code == CODE] == []


def test_what_the_line_gives_back_is_no_finding(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, RETURNED)
    assert ran.plain is None
    assert ran.alarms == [[], []]


@pytest.mark.parametrize(("read", "found"), [("a", True), ("b", False), ("c", False)])
def test_of_a_hook_on_every_layer_the_rewritten_entry_is_told(
    read: str, found: bool, loaded_shell: Any, tmp_path: Path
) -> None:
    """The same tensor is kept before and after the write; only who reads the first entry reads what he did not keep."""
    hooks = """
    def keep(name):
        return lambda module, given, out: acts.update({name: out})
    for name, layer in zip("abc", net):
        layer.register_forward_hook(keep(name))
    """
    ran = told(loaded_shell, tmp_path, program(hooks).replace('acts["a"]', f'acts["{read}"]'))
    assert [code for found in ran.alarms for code, _ in found if code == CODE] == [CODE, CODE][: 2 * found]


def test_plain_values_differ_with_and_without_the_in_place_layer(tmp_path: Path) -> None:
    good = plainly(tmp_path, program(HEALTHY["with_a_writer_that_makes_its_own"]))
    assert good.names["lowest"] < 0.0
    assert watched(tmp_path, program(HEALTHY["with_a_writer_that_makes_its_own"])).names["lowest"] < 0.0
