"""Two objects around one tensor of Paddle's: who held it when a line wrote it is recorded as it is for PyTorch's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import paddle

import inplace_magic
from inplace_magic.hazards.shared import objects_share_state

COPIED = """
class Node:
    def __init__(self, tensor, name):
        self.tensor, self.name = tensor, name
    def copy(self):
        return Node(TENSOR, self.name)
def halved(chain):
    nodes = [node.copy() for node in chain]
    for node in nodes:
        node.tensor.scale_(0.5)
    return nodes
def sums(chain):
    return [float(node.tensor.sum()) for node in halved(chain)], [float(node.tensor.sum()) for node in chain]
halves, wholes = sums([Node(paddle.full([4], 2.0), k) for k in range(3)])
"""


def run(folder: Path, tensor: str) -> tuple[dict[str, Any], Any]:
    """The names of the program, as a file, and the report."""
    path = folder / "program.py"
    path.write_text(COPIED.replace("TENSOR", tensor), encoding="utf-8")
    names: dict[str, Any] = {"paddle": paddle, "__name__": "__main__"}
    with inplace_magic.watch() as w:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    assert w.report.faults == []
    return names, w.report


def test_what_is_written_by_way_of_a_copy_is_in_the_original(tmp_path: Path) -> None:
    names, report = run(tmp_path, "self.tensor")
    assert names["halves"] == names["wholes"]
    (finding,) = report.hazards
    assert finding.code == objects_share_state.CODE
    assert finding.mutation is not None
    assert finding.mutation.statement == "node.tensor.scale_(0.5)"


def test_a_copy_with_a_tensor_of_its_own_is_no_finding(tmp_path: Path) -> None:
    names, report = run(tmp_path, "self.tensor.clone()")
    assert names["halves"] != names["wholes"]
    assert report.hazards == []
