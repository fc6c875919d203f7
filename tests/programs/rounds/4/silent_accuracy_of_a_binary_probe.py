import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def probe_loss(logits, target):
    target.unsqueeze_(1)
    return nn.functional.binary_cross_entropy_with_logits(logits, target)


@torch.no_grad()
def evaluate(probe, loader):
    hits, seen, losses = 0.0, 0, []
    for features, labels in loader:
        logits = probe(features)
        losses.append(probe_loss(logits, labels).item())
        guess = (logits.squeeze(1) > 0).float()
        hits += (guess == labels).float().mean().item() * len(labels)
        seen += len(labels)
    return hits / seen, sum(losses) / len(losses)


torch.manual_seed(3)
features = torch.randn(60, 5)
labels = (features[:, 0] + 0.3 * torch.randn(60) > 0.4).float()
probe = nn.Linear(5, 1)
optimizer = torch.optim.SGD(probe.parameters(), lr=0.5)
for _ in range(40):
    loss = nn.functional.binary_cross_entropy_with_logits(probe(features)[:, 0], labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

loader = DataLoader(TensorDataset(features, labels), batch_size=20)
accuracy, mean_loss = evaluate(probe, loader)
expected = ((probe(features)[:, 0] > 0) == (labels > 0.5)).float().mean().item()
SILENTLY_WRONG = abs(accuracy - expected) > 1e-4
