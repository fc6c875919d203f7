import torch
from torch import nn


class Trainer:
    """Fits water content to leaf spectra and gives back the net of the best epoch."""

    def __init__(self, model, rate):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        self.best_model, self.best_error, self.best_epoch = model, float("inf"), -1

    def one_epoch(self, spectra, water):
        self.optimizer.zero_grad()
        (self.model(spectra) - water).square().mean().backward()
        self.optimizer.step()

    @torch.no_grad()
    def error(self, spectra, water):
        return (self.model(spectra) - water).square().mean().item()

    def fit(self, train, held_out, epochs):
        for epoch in range(epochs):
            self.one_epoch(*train)
            error = self.error(*held_out)
            if error < self.best_error:
                self.best_error, self.best_epoch = error, epoch
                self.best_model = self.model
        return self.best_model


def make_net():
    torch.manual_seed(8)
    return nn.Sequential(nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 1))


dice = torch.Generator().manual_seed(3)
spectra = torch.randn(30, 24, generator=dice)
water = spectra[:, :2].sum(dim=1, keepdim=True) + 1.5 * torch.randn(30, 1, generator=dice)
train, held_out = (spectra[:15], water[:15]), (spectra[15:], water[15:])

trainer = Trainer(make_net(), rate=0.02)
best = trainer.fit(train, held_out, epochs=80)
with torch.no_grad():
    found = (best(held_out[0]) - held_out[1]).square().mean().item()
print("best epoch", trainer.best_epoch, "error then", trainer.best_error, "error of the net", found)

again = Trainer(make_net(), rate=0.02)
errors = []
for _ in range(80):
    again.one_epoch(*train)
    errors.append(again.error(*held_out))
SILENTLY_WRONG = abs(found - min(errors)) > 1e-4
