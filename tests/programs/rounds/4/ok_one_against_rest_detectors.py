import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def detector_loss(logits, labels, positive):
    target = (labels == positive).float().unsqueeze_(1)
    return nn.functional.binary_cross_entropy_with_logits(logits, target)


def fit(detectors, loader, epochs):
    optimizers = [torch.optim.SGD(d.parameters(), lr=0.5) for d in detectors]
    for _ in range(epochs):
        for x, labels in loader:
            for k, (detector, optimizer) in enumerate(zip(detectors, optimizers)):
                loss = detector_loss(detector(x), labels, k)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


@torch.no_grad()
def accuracy(detectors, loader):
    hits = seen = 0
    for x, labels in loader:
        scores = torch.cat([d(x) for d in detectors], dim=1)
        hits += (scores.argmax(dim=1) == labels).sum().item()
        seen += labels.numel()
    return hits / seen


torch.manual_seed(23)
centres = torch.tensor([[2.0, 0.0], [-2.0, 1.0], [0.0, -2.0]])
labels = torch.randint(0, 3, (60,))
x = centres[labels] + torch.randn(60, 2)
loader = DataLoader(TensorDataset(x, labels), batch_size=15)
detectors = [nn.Linear(2, 1) for _ in range(3)]
fit(detectors, loader, epochs=5)

measured = accuracy(detectors, loader)
w = torch.cat([d.weight for d in detectors])
b = torch.cat([d.bias for d in detectors])
expected = (torch.argmax(x @ w.t() + b, dim=1) == labels).float().mean().item()
SILENTLY_WRONG = labels.dim() != 1 or abs(measured - expected) > 1e-6
