import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, size, experts):
        super().__init__()
        self.score = nn.Linear(size, experts)
        self.loss = None

    def forward(self, x):
        shares = self.score(x).softmax(dim=1)
        self.loss = shares.shape[1] * shares.mean(dim=0).square().sum() - 1
        return shares


class FrogNet(nn.Module):
    """Two layers of experts that tell frog species apart."""

    def __init__(self, size=6, experts=4):
        super().__init__()
        self.gates = nn.ModuleList(Gate(size, experts) for _ in range(2))
        self.experts = nn.ParameterList(torch.randn(experts, size, size) / size for _ in range(2))
        self.head = nn.Linear(size, 3)

    def forward(self, x):
        for gate, weights in zip(self.gates, self.experts):
            x = x + torch.einsum("be,eij,bj->bi", gate(x), weights, x).tanh()
        return self.head(x)

    def balance(self):
        return torch.tensor([gate.loss.item() for gate in self.gates]).mean()


def train(net, calls, species, weight, steps=30):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(calls), species) + weight * net.balance()
        loss.backward()
        optimizer.step()


torch.manual_seed(17)
net = FrogNet()
begin = {name: p.detach().clone() for name, p in net.named_parameters()}
calls, species = torch.randn(60, 6) + 1.0, torch.randint(0, 3, (60,))
train(net, calls, species, weight=2.0)
print("balance losses", [round(gate.loss.item(), 4) for gate in net.gates])

again = FrogNet()
again.load_state_dict(begin)
for _ in range(30):
    loss = nn.functional.cross_entropy(again(calls), species)
    loss = loss + again.gates[0].loss + again.gates[1].loss
    for p, slope in zip(again.parameters(), torch.autograd.grad(loss, list(again.parameters()))):
        p.data -= 0.3 * slope
found, expected = net.gates[0].score.weight, again.gates[0].score.weight
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-3)
