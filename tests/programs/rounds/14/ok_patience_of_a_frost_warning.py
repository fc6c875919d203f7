import io

import torch
import torch.nn as nn


class Keeper:
    def __init__(self):
        self.lowest, self.bytes = float("inf"), None

    def offer(self, net, loss):
        if loss < self.lowest:
            self.lowest, self.bytes = loss, io.BytesIO()
            torch.save(net.state_dict(), self.bytes)

    def restore(self, net):
        self.bytes.seek(0)
        net.load_state_dict(torch.load(self.bytes, weights_only=True))


def train(net, data, held_out, keeper, epochs, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
    loss = nn.BCEWithLogitsLoss()
    for _ in range(epochs):
        optimizer.zero_grad(set_to_none=False)
        loss(net(data[0]).squeeze(1), data[1]).backward()
        optimizer.step()
        with torch.no_grad():
            keeper.offer(net, loss(net(held_out[0]).squeeze(1), held_out[1]).item())
    keeper.restore(net)


torch.manual_seed(240)
truth = torch.randn(8)
data, held_out = [
    (x, (x @ truth + noise * torch.randn(len(x)) > 0).float())
    for x, noise in ((torch.randn(14, 8), 3.0), (torch.randn(50, 8), 1.0))
]
net, keeper = nn.Linear(8, 1), Keeper()
train(net, data, held_out, keeper, epochs=80, rate=0.3)

with torch.no_grad():
    chance = torch.sigmoid(net(held_out[0]).squeeze(1)).double()
measured = -torch.where(held_out[1] > 0, chance, 1 - chance).log().mean()
SILENTLY_WRONG = not torch.allclose(measured, torch.tensor(keeper.lowest, dtype=torch.float64), atol=1e-5)
