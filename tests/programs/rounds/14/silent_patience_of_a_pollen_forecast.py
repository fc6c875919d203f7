import torch
import torch.nn as nn


class Patience:
    def __init__(self, limit):
        self.limit, self.waited = limit, 0
        self.lowest, self.state = float("inf"), None

    def update(self, net, loss):
        if loss < self.lowest:
            self.lowest, self.waited = loss, 0
            self.state = net.state_dict().copy()
        else:
            self.waited += 1
        return self.waited >= self.limit


def train(net, data, held_out, epochs, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    patience = Patience(limit=4)
    for _ in range(epochs):
        x, y = data
        optimizer.zero_grad()
        (net(x).squeeze(1) - y).square().mean().backward()
        optimizer.step()
        with torch.no_grad():
            loss = (net(held_out[0]).squeeze(1) - held_out[1]).square().mean().item()
        if patience.update(net, loss):
            break
    net.load_state_dict(patience.state)
    return patience.lowest


torch.manual_seed(71)
truth = torch.randn(8)
plots = ((torch.randn(10, 8), 3.0), (torch.randn(40, 8), 0.5))
data, held_out = [(x, x @ truth + noise * torch.randn(len(x))) for x, noise in plots]
net = nn.Linear(8, 1)
lowest = train(net, data, held_out, epochs=200, rate=0.05)

with torch.no_grad():
    measured = (net(held_out[0]).squeeze(1) - held_out[1]).square().mean()
SILENTLY_WRONG = not torch.allclose(measured, torch.tensor(lowest), atol=1e-5)
