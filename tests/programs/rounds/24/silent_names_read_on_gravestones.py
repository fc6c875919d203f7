import torch
from torch import nn


class SubtokenF1:
    """F1 of the letter groups found in a name."""

    def __init__(self):
        self.true_positive = torch.zeros(())
        self.false_positive = torch.zeros(())
        self.false_negative = torch.zeros(())

    def update(self, found, present):
        self.true_positive += (found & present).sum()
        self.false_positive += (found & ~present).sum()
        self.false_negative += (~found & present).sum()

    def compute(self):
        precision = self.true_positive / (self.true_positive + self.false_positive).clamp(min=1)
        recall = self.true_positive / (self.true_positive + self.false_negative).clamp(min=1)
        return (2 * precision * recall / (precision + recall).clamp(min=1e-9)).item()


class Reader:
    def __init__(self, pixels, groups):
        self.model = nn.Linear(pixels, groups)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=2.0)
        self.metric = SubtokenF1()
        self.history = []

    def fit(self, batches, epochs):
        for _ in range(epochs):
            for image, present in batches:
                logits = self.model(image)
                loss = nn.functional.binary_cross_entropy_with_logits(logits, present.float())
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.metric.update(logits > 0, present)
            f1 = self.metric.compute()
            self.history.append(f1)


torch.manual_seed(17)
image = torch.randn(96, 20)
present = image @ torch.randn(20, 6) > 2.0
reader = Reader(20, 6)
weight, bias = reader.model.weight.detach().clone(), reader.model.bias.detach().clone()
batches = list(zip(image.split(16), present.split(16)))
reader.fit(batches, epochs=4)
print("F1 of each epoch", reader.history)

for _ in range(4):
    tp = wrongs = 0
    for x, y in batches:
        logits = x @ weight.T + bias
        tp, wrongs = tp + int(((logits > 0) & y).sum()), wrongs + int(((logits > 0) != y).sum())
        slope = (logits.sigmoid() - y.float()) / y.numel()
        weight, bias = weight - 2.0 * slope.T @ x, bias - 2.0 * slope.sum(dim=0)
SILENTLY_WRONG = abs(reader.history[-1] - 2 * tp / (2 * tp + wrongs)) > 1e-3
