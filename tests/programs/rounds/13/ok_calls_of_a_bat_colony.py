import torch
import torch.nn as nn
import torch.nn.functional as F


class CallEncoder(nn.Module):
    def __init__(self, bands, width):
        super().__init__()
        self.net = nn.Conv1d(bands, width, 3, padding=1)

    @torch.no_grad()
    def encode(self, bands):
        bands = bands.to(self.net.weight.dtype)
        bands -= bands.mean(dim=2, keepdim=True)
        bands /= bands.std(dim=2, keepdim=True) + 1e-6
        return F.normalize(self.net(bands).mean(dim=2), dim=1)


def fit(encoder, read, batches, rate=0.2):
    optimizer = torch.optim.SGD(read.parameters(), lr=rate)
    for bands in batches:
        made = read(encoder.encode(bands))[:, :, None]
        optimizer.zero_grad()
        (made - bands.float()).square().mean().backward()
        optimizer.step()


torch.manual_seed(234)
encoder, read = CallEncoder(5, 4), nn.Linear(4, 5)
batches = [torch.randn(6, 5, 20, dtype=torch.float64) * 2 + torch.arange(5)[:, None] for _ in range(8)]
given = torch.stack(batches).float()
weight, bias = read.weight.detach().clone(), read.bias.detach().clone()
fit(encoder, read, batches)

for bands in given:
    even = (bands - bands.mean(dim=2, keepdim=True)) / (bands.std(dim=2, keepdim=True) + 1e-6)
    voice = F.conv1d(even, encoder.net.weight, encoder.net.bias, padding=1).mean(dim=2).detach()
    voice = voice / voice.norm(dim=1, keepdim=True)
    error = 2 * (voice @ weight.T + bias - bands.mean(dim=2)) / (6 * 5)
    weight, bias = weight - 0.2 * error.T @ voice, bias - 0.2 * error.sum(dim=0)
SILENTLY_WRONG = not torch.allclose(read.bias, bias, atol=1e-4)
