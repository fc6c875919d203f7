import torch
from torch import nn


class Refiner(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(8, 3), nn.Linear(3, 4)

    def forward(self, x, latent):
        code = self.encoder(x) + (0 if latent is None else latent)
        return torch.sigmoid(self.decoder(code)), code


def train_on_batch(net, x, iterations=2):
    average, latent = torch.zeros_like(x), None
    y_hat = None
    for _ in range(iterations):
        x_input = torch.cat([x, average if y_hat is None else y_hat], dim=1)
        y_hat, latent = net(x_input, latent)
        loss = (y_hat - x).pow(2).mean()
        loss.backward()
    return loss.item()


torch.manual_seed(0)
net = Refiner()
last = train_on_batch(net, torch.rand(3, 4))
