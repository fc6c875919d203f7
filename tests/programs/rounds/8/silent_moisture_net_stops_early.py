import torch
import torch.nn as nn


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best_loss = float("inf")
        self.best_state = None
        self.waited = 0

    def update(self, loss, model):
        if loss < self.best_loss:
            self.best_loss, self.waited = loss, 0
            self.best_state = model.state_dict()
        else:
            self.waited += 1
        return self.waited >= self.patience

    def restore(self, model):
        model.load_state_dict(self.best_state)


def validate(model, x, y):
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


torch.manual_seed(801)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
probes, held_out = torch.randn(20, 8), torch.randn(60, 8)
moisture = probes[:, :1] - 0.5 * probes[:, 1:2] + 0.4 * torch.randn(20, 1)
reference = held_out[:, :1] - 0.5 * held_out[:, 1:2]

optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
stopping = EarlyStopping(patience=12)
history = []
for epoch in range(200):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(probes), moisture).backward()
    optimizer.step()
    history.append(validate(model, held_out, reference))
    if stopping.update(history[-1], model):
        break

stopping.restore(model)
SILENTLY_WRONG = abs(validate(model, held_out, reference) - min(history)) > 1e-5
