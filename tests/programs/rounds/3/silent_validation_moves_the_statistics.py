import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Trainer:
    def __init__(self, model, lr=0.05):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.criterion = nn.MSELoss()

    def train_epoch(self, loader):
        self.model.train()
        for x, y in loader:
            self.optimizer.zero_grad()
            self.criterion(self.model(x), y).backward()
            self.optimizer.step()

    def validate(self, loader):
        losses = []
        with torch.no_grad():
            for x, y in loader:
                losses.append(self.criterion(self.model(x), y).item())
        return sum(losses) / len(losses)

    def fit(self, train_loader, val_loader=None, epochs=3):
        for _ in range(epochs):
            self.train_epoch(train_loader)
            if val_loader is not None:
                self.val_loss = self.validate(val_loader)
        return self.model.eval()


def loader(n, shift):
    x = torch.randn(n, 4) + shift
    return DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)


net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
twin = copy.deepcopy(net)
train_loader, val_loader = loader(64, 0.0), loader(64, 1.0)
x = torch.randn(8, 4)
predictions = Trainer(net).fit(train_loader, val_loader)(x)
expected = Trainer(twin).fit(train_loader)(x)
SILENTLY_WRONG = not torch.allclose(predictions, expected, atol=1e-5)
