import torch
import torch.nn as nn


class SoundTagger(nn.Module):
    def __init__(self, bands=10, hidden=12, tags=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(bands, hidden), nn.LayerNorm(hidden))
        self.drop = nn.Dropout(0.3)
        self.prior = nn.Parameter(torch.randn(hidden))
        self.fine = nn.Linear(hidden, tags)
        self.coarse = nn.Linear(hidden, tags)

    def forward(self, spectrum):
        h = self.encoder(spectrum)
        z = self.drop(h)
        z += self.prior
        return self.fine(z) + self.coarse(h)


def make_clips(count, seed):
    gen = torch.Generator().manual_seed(seed)
    return torch.randn(count, 10, generator=gen), torch.randint(0, 4, (count,), generator=gen)


torch.manual_seed(0)
model = SoundTagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
clips, tags = make_clips(32, seed=1)
for _ in range(10):
    loss = nn.functional.cross_entropy(model(clips), tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
clips, tags = make_clips(16, seed=2)
with torch.no_grad():
    logits = model(clips)
    code = model.encoder(clips)
    expected = model.fine(code + model.prior) + model.coarse(code)

SILENTLY_WRONG = not torch.allclose(logits, expected, atol=1e-5)
