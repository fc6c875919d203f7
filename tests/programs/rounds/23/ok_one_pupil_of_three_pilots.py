import torch
from torch import nn


class Pupil:
    """Learns a helmsman's hand from several pilots at once; their errors count together."""

    def __init__(self, inputs, lr):
        self.net = nn.Linear(inputs, 1).double()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=lr)

    def lesson(self, seas, rudders, weights):
        for sea, rudder, weight in zip(seas, rudders, weights):
            loss = weight * nn.functional.mse_loss(self.net(sea), rudder)
            loss.backward()
        size = torch.sqrt(sum(p.grad.square().sum() for p in self.net.parameters()))
        self.optimizer.step()
        self.optimizer.zero_grad()
        return float(size)


torch.manual_seed(37)
weights = [0.5, 0.3, 0.2]
seas = torch.randn(6, 3, 12, 4, dtype=torch.float64)
hand = torch.tensor([[0.8], [-0.4], [0.1], [0.3]], dtype=torch.float64)
rudders = seas @ hand + 0.1 * torch.randn(6, 3, 12, 1, dtype=torch.float64)
pupil = Pupil(inputs=4, lr=0.3)
w, b = pupil.net.weight.detach().clone()[0], pupil.net.bias.detach().clone()
sizes = [pupil.lesson(seas[k], rudders[k], weights) for k in range(6)]
print("size of the slope by lesson", sizes)

expected = []
for k in range(6):
    slope_w, slope_b = torch.zeros_like(w), torch.zeros_like(b)
    for p in range(3):
        x, y = seas[k, p], rudders[k, p, :, 0]
        miss = x @ w + b - y
        slope_w = slope_w + weights[p] * 2 * (miss[:, None] * x).mean(dim=0)
        slope_b = slope_b + weights[p] * 2 * miss.mean()
    expected.append(float((slope_w.square().sum() + slope_b.square().sum()).sqrt()))
    w, b = w - 0.3 * slope_w, b - 0.3 * slope_b
same = torch.allclose(torch.tensor(sizes), torch.tensor(expected), atol=1e-6)
SILENTLY_WRONG = not (same and torch.allclose(pupil.net.weight[0], w, atol=1e-9))
