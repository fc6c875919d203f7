import copy

import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ask, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x, memory):
        scores = self.ask(x) @ self.key(memory).transpose(1, 2) / x.shape[-1] ** 0.5
        return torch.softmax(scores, dim=-1) @ self.value(memory)


class WaveDecoder(nn.Module):
    """Looks at the waves so far and then at the encoded wind."""

    def __init__(self, width):
        super().__init__()
        self.wave_attention, self.wind_attention = Attention(width), Attention(width)
        self.wave_norm, self.wind_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.height = nn.Linear(width, 1)

    def forward(self, waves, wind):
        x = self.wave_norm(waves + self.wave_attention(waves, waves))
        x = self.wind_norm(x + self.wave_attention(x, wind))
        return self.height(x).squeeze(-1)


def train(model, forward, waves, wind, heights, steps=30):
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        opt.zero_grad()
        loss = (forward(waves, wind) - heights).square().mean()
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(17)
waves, wind = torch.randn(6, 10, 8), torch.randn(6, 14, 8)
heights = waves[:, :, 0].cumsum(dim=1) * 0.2 + wind.mean(dim=(1, 2))[:, None]
model = WaveDecoder(8)
twin = copy.deepcopy(model)
loss = train(model, model, waves, wind, heights)
print("loss", loss)


def look(a, x, memory):
    return nn.functional.scaled_dot_product_attention(a.ask(x), a.key(memory), a.value(memory))


def written_out(waves, wind):
    x = twin.wave_norm(waves + look(twin.wave_attention, waves, waves))
    x = twin.wind_norm(x + look(twin.wind_attention, x, wind))
    return twin.height(x).squeeze(-1)


SILENTLY_WRONG = abs(loss - train(twin, written_out, waves, wind, heights)) > 1e-4
