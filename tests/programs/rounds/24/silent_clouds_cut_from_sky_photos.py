import torch
from torch import nn
import torch.nn.functional as F


class Trainer:
    """Trains a pixelwise cloud mask and looks at the held-out photos every few iterations."""

    def __init__(self, model, optimizer, train_loader, val_loader, interval):
        self.model = model
        self.optim = optimizer
        self.train_loader, self.val_loader = train_loader, val_loader
        self.interval = interval
        self.iteration = 0
        self.val_losses = []

    def validate(self):
        self.model.eval()
        loss = 0.0
        with torch.no_grad():
            for data, target in self.val_loader:
                loss += F.binary_cross_entropy_with_logits(self.model(data), target).item()
        self.val_losses.append(loss / len(self.val_loader))

    def train_epoch(self):
        self.model.train()
        for data, target in self.train_loader:
            if self.iteration % self.interval == 0:
                self.validate()
            self.optim.zero_grad()
            score = self.model(data)
            loss = F.binary_cross_entropy_with_logits(score, target)
            loss.backward()
            self.optim.step()
            self.iteration += 1

    def train(self, epochs):
        for _ in range(epochs):
            self.train_epoch()


torch.manual_seed(18)
data = torch.randn(48, 9, 4)
target = (data.mean(dim=2, keepdim=True) > 0.2).float()
loader = list(zip(data.split(8), target.split(8)))
model = nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 1))
w, b = model[1].weight.detach().clone(), model[1].bias.detach().clone()
trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.5), loader[:5], loader[5:], interval=3)
torch.manual_seed(19)
trainer.train(epochs=4)
print("validation", trainer.val_losses[-1], "weights", model[1].weight.tolist())

torch.manual_seed(19)
for _ in range(4):
    for x, y in loader[:5]:
        x = F.dropout(x, 0.5, training=True)
        slope = ((x @ w.T + b).sigmoid() - y) / y.numel()
        w, b = w - 0.5 * (slope * x).sum(dim=(0, 1)), b - 0.5 * slope.sum()
SILENTLY_WRONG = not torch.allclose(model[1].weight, w, atol=1e-4)
