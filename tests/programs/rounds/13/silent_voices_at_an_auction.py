import torch
import torch.nn as nn
import torch.nn.functional as F


class VoiceEncoder(nn.Module):
    def __init__(self, bands, width, device="cpu"):
        super().__init__()
        self.device = torch.device(device)
        self.net = nn.Conv1d(bands, width, 3, padding=1).to(self.device)

    @torch.no_grad()
    def encode(self, bands):
        bands = bands.to(self.device)
        bands -= bands.mean(dim=2, keepdim=True)
        bands /= bands.std(dim=2, keepdim=True) + 1e-6
        return F.normalize(self.net(bands).mean(dim=2), dim=1)


class Vocoder(nn.Module):
    def __init__(self, bands, width):
        super().__init__()
        self.net = nn.Linear(width, bands)

    def forward(self, voice, frames):
        return self.net(voice)[:, :, None].expand(-1, -1, frames)


def fit(encoder, vocoder, batches, rate=0.2):
    optimizer = torch.optim.SGD(vocoder.parameters(), lr=rate)
    for bands in batches:
        made = vocoder(encoder.encode(bands), bands.shape[2])
        optimizer.zero_grad()
        (made - bands).square().mean().backward()
        optimizer.step()


torch.manual_seed(134)
encoder, vocoder = VoiceEncoder(5, 4), Vocoder(5, 4)
batches = [torch.randn(6, 5, 20) * 2 + torch.arange(5)[:, None] for _ in range(8)]
given = torch.stack(batches)
weight, bias = vocoder.net.weight.detach().clone(), vocoder.net.bias.detach().clone()
fit(encoder, vocoder, batches)

for bands in given:
    even = (bands - bands.mean(dim=2, keepdim=True)) / (bands.std(dim=2, keepdim=True) + 1e-6)
    voice = F.conv1d(even, encoder.net.weight, encoder.net.bias, padding=1).mean(dim=2).detach()
    voice = voice / voice.norm(dim=1, keepdim=True)
    error = 2 * (voice @ weight.T + bias - bands.mean(dim=2)) / (6 * 5)
    weight, bias = weight - 0.2 * error.T @ voice, bias - 0.2 * error.sum(dim=0)
SILENTLY_WRONG = not torch.allclose(vocoder.net.bias, bias, atol=1e-4)
