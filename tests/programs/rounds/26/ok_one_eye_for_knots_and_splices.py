import torch
import torch.nn as nn


class Look(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ask = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)

    def forward(self, x, memory):
        scores = self.ask(x) @ self.key(memory).T / x.shape[-1] ** 0.5
        return torch.softmax(scores, dim=-1) @ memory


class RopeNet(nn.Module):
    """Looks along the rope and then at the pattern card with the same small attention layer."""

    def __init__(self, width):
        super().__init__()
        self.look = Look(width)
        self.mark = nn.Linear(width, 1)

    def forward(self, rope, card):
        x = rope + self.look(rope, rope)
        x = x + self.look(x, card)
        return self.mark(x).squeeze(-1)


torch.manual_seed(18)
rope = torch.randn(20, 6, dtype=torch.float64)
card = torch.randn(5, 6, dtype=torch.float64)
marks = rope[:, 0] * rope[:, 1]
net = RopeNet(6).double()
start = [p.detach().clone() for p in (net.look.ask.weight, net.look.key.weight)]
start += [p.detach().clone() for p in net.mark.parameters()]
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(12):
    opt.zero_grad()
    loss = (net(rope, card) - marks).square().mean()
    loss.backward()
    opt.step()
print("loss", loss.item())


def error(ask, key, weight, bias):
    x = rope + torch.softmax(rope @ ask.T @ (rope @ key.T).T / 6**0.5, dim=1) @ rope
    x = x + torch.softmax(x @ ask.T @ (card @ key.T).T / 6**0.5, dim=1) @ card
    return ((x @ weight.T + bias).squeeze(1) - marks).square().mean()


values = [p.requires_grad_() for p in start]
for _ in range(12):
    last = error(*values)
    slopes = torch.autograd.grad(last, values)
    values = [(v - 0.05 * s).detach().requires_grad_() for v, s in zip(values, slopes)]
SILENTLY_WRONG = abs(loss.item() - last.item()) > 1e-9
