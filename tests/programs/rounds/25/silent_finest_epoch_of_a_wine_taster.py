import torch
from torch import nn


class Taster(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(11, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, wine):
        return self.body(wine).squeeze(1)


class Trainer:
    def __init__(self, model, rate):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        self.best_error = float("inf")
        self.best_model = None

    def error(self, wine, score):
        with torch.no_grad():
            return (self.model(wine) - score).square().mean().item()

    def run(self, train, valid, epochs):
        history = []
        for epoch in range(epochs):
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(train[0]), train[1]).backward()
            self.optimizer.step()
            now = self.error(*valid)
            history.append(now)
            if now < self.best_error:
                self.best_error = now
                self.best_model = self.model.state_dict()
        self.model.load_state_dict(self.best_model)
        return history


def cellar(count):
    wine = torch.randn(count, 11)
    return wine, wine[:, 0] - 0.5 * wine[:, 3] + 0.8 * torch.randn(count)


torch.manual_seed(40)
train, valid = cellar(30), cellar(200)
trainer = Trainer(Taster(), rate=0.02)
history = trainer.run(train, valid, epochs=120)
final = trainer.error(*valid)
print("lowest error of all epochs", round(min(history), 4), "error of the kept taster", round(final, 4))
SILENTLY_WRONG = abs(final - min(history)) > 1e-5
