import numpy as np
import torch
from torch import nn


def load_split(rows, turbines, seed):
    """Scaled wind readings and the scaled output of every turbine."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4))
    weights = rng.normal(scale=0.3, size=(4, turbines))
    y = x @ weights
    return x, y, weights


def to_tensors(x_train, y_train):
    x_train = torch.from_numpy(x_train).type(torch.FloatTensor)
    y_train = torch.from_numpy(y_train).type(torch.LongTensor)
    return x_train, y_train


class PowerNet(nn.Module):
    def __init__(self, inputs, turbines):
        super().__init__()
        self.out = nn.Linear(inputs, turbines, bias=False)

    def forward(self, x):
        return self.out(x)


def fit(net, x, y, epochs=300, lr=0.5):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    criterion = nn.MSELoss(reduction="sum")
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = criterion(net(x), y.float()) / len(x)
        loss.backward()
        optimizer.step()
    return loss.item()


x, y, weights = load_split(rows=200, turbines=5, seed=6)
x_train, y_train = to_tensors(x, y)
net = PowerNet(4, 5)
last = fit(net, x_train, y_train)
print("last loss", last, "largest target", y_train.abs().max().item())

learned = net.out.weight.detach().T.double()
expected = torch.from_numpy(np.linalg.lstsq(x, y, rcond=None)[0])
SILENTLY_WRONG = not torch.allclose(learned, expected, atol=1e-2)
