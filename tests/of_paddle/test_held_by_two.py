"""Two objects around one tensor of Paddle's: who held it when a line wrote it is recorded as it is for PyTorch's."""

from __future__ import annotations

from pathlib import Path

from hazards.running import watched

from inplace_magic.hazards.stale import objects_share_state

COPIED = """
import paddle
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


def test_what_is_written_by_way_of_a_copy_is_in_the_original(tmp_path: Path) -> None:
    ran = watched(tmp_path, COPIED.replace("TENSOR", "self.tensor"))
    assert ran.names["halves"] == ran.names["wholes"]
    finding = ran.the(objects_share_state.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "node.tensor.scale_(0.5)"


def test_a_copy_with_a_tensor_of_its_own_is_no_finding(tmp_path: Path) -> None:
    ran = watched(tmp_path, COPIED.replace("TENSOR", "self.tensor.clone()"))
    assert ran.names["halves"] != ran.names["wholes"]
    assert ran.codes() == set()
