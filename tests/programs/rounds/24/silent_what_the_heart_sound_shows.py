import torch
from torch import nn


class MurmurScore(nn.Module):
    """Scores a heart sound: filter bank, encoder over time, and the loudness beside it."""

    def __init__(self, filters=6, hidden=8):
        super().__init__()
        self.bank = nn.Conv1d(1, filters, 9, stride=2)
        self.enc = nn.GRU(filters, hidden, batch_first=True)
        self.out = nn.Linear(hidden + 1, 1)

    def features(self, sound):
        return torch.log1p(self.bank(sound.unsqueeze(1)).pow(2)).transpose(1, 2)

    def encode(self, sound):
        feats = self.features(sound)
        states, _ = self.enc(feats.detach())
        return states.mean(dim=1)

    def forward(self, sound):
        loudness = sound.pow(2).mean(dim=1, keepdim=True)
        return self.out(torch.cat([self.encode(sound), loudness], dim=1)).squeeze(1)


def saliency(model, sound):
    sound = sound.clone().requires_grad_(True)
    model(sound).sum().backward()
    return sound.grad


torch.manual_seed(11)
torch.set_default_dtype(torch.float64)
model = MurmurScore().eval()
time = torch.linspace(0, 1, 200)
beat = torch.exp(-((time % 0.5 - 0.1) / 0.02) ** 2) * torch.sin(300 * time)
sound = beat + 0.1 * torch.randn(3, 200)
shown = saliency(model, sound)
print("strongest sample of each sound", shown.abs().argmax(dim=1).tolist())

push = torch.randn(3, 200)
with torch.no_grad():
    rise = (model(sound + 1e-5 * push) - model(sound - 1e-5 * push)) / 2e-5
SILENTLY_WRONG = not torch.allclose((shown * push).sum(dim=1), rise, rtol=1e-4, atol=1e-7)
