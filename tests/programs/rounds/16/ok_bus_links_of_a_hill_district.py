import copy
import torch
import torch.nn as nn


class LinkModel(nn.Module):
    def __init__(self, places, size):
        super().__init__()
        self.place = nn.Embedding(places, size)
        self.shift = nn.Parameter(torch.zeros(size))

    def forward(self, pairs):
        gap = self.place(pairs[:, 0]) + self.shift - self.place(pairs[:, 1])
        return gap.square().sum(dim=1)


def margin_loss(model, links):
    return (1.0 + model(links[:, :2]) - model(links[:, 2:])).clamp(min=0).mean()


class Trainer:
    def __init__(self, model, rate):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        self.lowest, self.chosen = float("inf"), None

    def check(self, links):
        with torch.no_grad():
            loss = margin_loss(self.model, links).item()
        if loss < self.lowest:
            self.lowest = loss
            self.chosen = copy.deepcopy(self.model.state_dict())

    def run(self, train, held_out, epochs):
        for _ in range(epochs):
            self.optimizer.zero_grad()
            margin_loss(self.model, train).backward()
            self.optimizer.step()
            self.check(held_out)
        self.model.load_state_dict(self.chosen)
        return self.lowest


torch.manual_seed(18)
model = LinkModel(10, 3)
train, held_out = torch.randint(0, 10, (30, 4)), torch.randint(0, 10, (8, 4))
lowest = Trainer(model, rate=0.5).run(train, held_out, epochs=40)

table, shift = model.place.weight.detach().tolist(), model.shift.tolist()
total = 0.0
for a, b, c, d in held_out.tolist():
    near = sum((p + s - q) ** 2 for p, s, q in zip(table[a], shift, table[b]))
    far = sum((p + s - q) ** 2 for p, s, q in zip(table[c], shift, table[d]))
    total += max(0.0, 1.0 + near - far)
SILENTLY_WRONG = abs(total / len(held_out) - lowest) > 1e-4
