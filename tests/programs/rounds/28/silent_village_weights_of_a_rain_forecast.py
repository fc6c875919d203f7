import torch
from torch import nn


class Village:
    def __init__(self, pressure, rain):
        self.pressure, self.rain = pressure, rain

    def update_weights(self, model, epochs=5):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(epochs):
            optimizer.zero_grad()
            (model(self.pressure).squeeze(1) - self.rain).square().mean().backward()
            optimizer.step()
        return model.state_dict()


def average_weights(received):
    return {key: torch.stack([w[key] for w in received]).mean(dim=0) for key in received[0]}


def train(villages, global_model, rounds):
    for _ in range(rounds):
        local_weights = []
        for village in villages:
            w = village.update_weights(model=global_model)
            local_weights.append(w)
        global_model.load_state_dict(average_weights(local_weights))


torch.manual_seed(41)
villages = []
for tilt in (0.8, -0.5, 0.3):
    pressure = torch.randn(30, 2)
    villages.append(Village(pressure, pressure @ torch.tensor([tilt, 1.0]) + tilt))
global_model = nn.Linear(2, 1)
weight, bias = global_model.weight.detach().clone(), global_model.bias.detach().clone()
train(villages, global_model, rounds=4)
print("global weights", global_model.weight.tolist(), global_model.bias.tolist())

for _ in range(4):
    ends = []
    for village in villages:
        w, b = weight, bias
        for _ in range(5):
            off = 2 * (village.pressure @ w.T + b - village.rain[:, None]) / 30
            w, b = w - 0.1 * off.T @ village.pressure, b - 0.1 * off.sum(dim=0)
        ends.append((w, b))
    weight, bias = (torch.stack(parts).mean(dim=0) for parts in zip(*ends, strict=True))
SILENTLY_WRONG = not torch.allclose(global_model.weight, weight, atol=1e-4)
