from types import SimpleNamespace

import torch
from torch import nn


class Engine:
    def __init__(self, func, model, crit, optimizer, config):
        self.func = func
        self.model = model
        self.crit = crit
        self.optimizer = optimizer
        self.config = config
        self.state = SimpleNamespace(iteration=0)

    @staticmethod
    def train(engine, mini_batch):
        engine.model.train()
        if engine.state.iteration % engine.config.iteration_per_update == 1:
            engine.optimizer.zero_grad()

        x, y = mini_batch
        y_hat = engine.model(x)
        loss = engine.crit(y_hat, y)
        loss.div(engine.config.iteration_per_update).backward()

        if engine.state.iteration % engine.config.iteration_per_update == 0:
            engine.optimizer.step()
        return loss.item()

    def run(self, loader, max_epochs):
        losses = []
        for epoch in range(max_epochs):
            for mini_batch in loader:
                self.state.iteration += 1
                losses.append(self.func(self, mini_batch))
        return losses


def make_model():
    torch.manual_seed(21)
    return nn.Sequential(nn.EmbeddingBag(30, 8), nn.Linear(8, 12))


torch.manual_seed(1)
loader = [(torch.randint(30, (6, 5)), torch.randint(12, (6,))) for _ in range(10)]
config = SimpleNamespace(iteration_per_update=1, lr=0.1)
model = make_model()
crit = nn.CrossEntropyLoss()
trainer = Engine(Engine.train, model, crit, torch.optim.SGD(model.parameters(), lr=config.lr), config)
losses = trainer.run(loader, max_epochs=2)
print("first and last loss", losses[0], losses[-1])
other = make_model()
expected = []
for x, y in loader * 2:
    loss = crit(other(x), y)
    expected.append(loss.item())
    for p, g in zip(list(other.parameters()), torch.autograd.grad(loss, list(other.parameters()))):
        p.data -= config.lr * g
SILENTLY_WRONG = not torch.allclose(torch.tensor(losses), torch.tensor(expected), atol=1e-4)
