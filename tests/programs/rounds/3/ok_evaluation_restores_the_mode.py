import copy
from contextlib import contextmanager

import torch
from torch import nn

torch.manual_seed(0)


@contextmanager
def evaluating(model):
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.train(was_training)


def fit(model, x, y, x_val=None, epochs=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    history = []
    for _ in range(epochs):
        for xb, yb in zip(x.split(8), y.split(8)):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(xb), yb).backward()
            optimizer.step()
        if x_val is not None:
            with evaluating(model):
                history.append(model(x_val).clamp_(0, 1).mean().item())
    return history


x, y = torch.randn(32, 3), torch.rand(32, 1)
x_val = torch.randn(16, 3) * 3 + 2
model = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(inplace=True), nn.Linear(6, 1))
twin = copy.deepcopy(model)
history = fit(model, x, y, x_val)
fit(twin, x, y)

with evaluating(model), evaluating(twin):
    same_output = torch.equal(model(x), twin(x))
same_statistics = torch.equal(model[1].running_mean, twin[1].running_mean)
SILENTLY_WRONG = not (same_output and same_statistics and len(history) == 4)
