import torch


class Node:
    def __init__(self, tensor, name):
        self.tensor = tensor
        self.name = name

    def copy(self):
        return Node(self.tensor, self.name)


def normalised(chain):
    nodes = [node.copy() for node in chain]
    for node in nodes:
        node.tensor /= node.tensor.norm()
    return nodes


def squared_norm(chain):
    left = torch.ones(1, 1, dtype=torch.float64)
    for node in chain:
        left = torch.einsum("ab,asc,bsd->cd", left, node.tensor, node.tensor)
    return left.squeeze()


def log_norm(chain):
    contracted = squared_norm(normalised(chain))
    scales = torch.stack([node.tensor.norm() for node in chain])
    return 0.5 * contracted.log() + scales.log().sum()


torch.manual_seed(7)
bonds = [1, 4, 6, 6, 4, 1]
chain = [
    Node(3 * torch.randn(left, 2, right, dtype=torch.float64), f"site{number}")
    for number, (left, right) in enumerate(zip(bonds[:-1], bonds[1:]))
]
state = chain[0].tensor.clone()
for node in chain[1:]:
    state = torch.tensordot(state, node.tensor, dims=1)
expected = state.norm().log()

result = log_norm(chain)
SILENTLY_WRONG = not torch.allclose(result, expected)
