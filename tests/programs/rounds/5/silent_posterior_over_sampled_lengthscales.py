import torch
from torch import nn


class ExactRegression(nn.Module):
    def __init__(self, train_x, train_y, noise=0.05):
        super().__init__()
        self.lengthscale = nn.Parameter(torch.tensor(1.0))
        self.train_x, self.train_y, self.noise = train_x, train_y, noise
        self._alpha = None

    def kernel(self, a, b):
        return torch.exp(-0.5 * (torch.cdist(a, b) / self.lengthscale) ** 2)

    def train(self, mode=True):
        self._alpha = None
        return super().train(mode)

    def forward(self, x):
        if self._alpha is None:
            gram = self.kernel(self.train_x, self.train_x)
            gram = gram + self.noise * torch.eye(len(gram))
            self._alpha = torch.cholesky_solve(self.train_y[:, None], torch.linalg.cholesky(gram))
        return (self.kernel(x, self.train_x) @ self._alpha).squeeze(1)


@torch.no_grad()
def mixture_mean(model, x, trace):
    model.eval()
    means = []
    for lengthscale in trace:
        model.lengthscale.fill_(lengthscale)
        means.append(model(x))
    return torch.stack(means).mean(dim=0)


torch.manual_seed(4)
train_x = torch.linspace(0, 4, 15)[:, None]
train_y = torch.sin(2 * train_x[:, 0]) + 0.1 * torch.randn(15)
test_x = torch.linspace(0.1, 3.9, 9)[:, None]
trace = [0.3, 0.5, 0.8, 1.1]
mean = mixture_mean(ExactRegression(train_x, train_y), test_x, trace)

expected = torch.zeros(9)
for scale in trace:
    gram = torch.exp(-0.5 * (train_x - train_x.T) ** 2 / scale ** 2) + 0.05 * torch.eye(15)
    cross = torch.exp(-0.5 * (test_x - train_x.T) ** 2 / scale ** 2)
    expected += cross @ torch.linalg.solve(gram, train_y) / len(trace)
SILENTLY_WRONG = not torch.allclose(mean, expected, atol=1e-3)
