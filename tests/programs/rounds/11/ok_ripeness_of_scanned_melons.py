import torch
import torch.nn as nn


class MarginLoss(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, scores, classes):
        column = classes[:]
        kept = scores.gather(1, column.unsqueeze_(1))
        return (self.margin + scores - kept).clamp_(min=0).mean()


def epoch(net, loader, criterion, optimizer):
    hits, seen = 0, 0
    for features, classes in loader:
        scores = net(features)
        loss = criterion(scores, classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += (scores.argmax(dim=1) == classes).sum().item()
        seen += scores.shape[0]
    return hits / seen


torch.manual_seed(55)
features = torch.randn(80, 7)
classes = (features @ torch.randn(7, 3)).argmax(dim=1)
net = nn.Linear(7, 3)
weight, bias = [p.detach().clone().requires_grad_() for p in net.parameters()]
loader = list(zip(features.split(20), classes.split(20)))
rate = epoch(net, loader, MarginLoss(0.5), torch.optim.SGD(net.parameters(), lr=0.2))

right = 0
for i in range(0, 80, 20):
    scores = features[i:i + 20] @ weight.T + bias
    right += sum(int(s.argmax()) == int(c) for s, c in zip(scores, classes[i:i + 20]))
    own = scores[torch.arange(20), classes[i:i + 20]]
    grads = torch.autograd.grad((0.5 + scores - own[:, None]).clamp(min=0).mean(), (weight, bias))
    weight, bias = [(p - 0.2 * g).detach().requires_grad_() for p, g in zip((weight, bias), grads)]
SILENTLY_WRONG = abs(rate - right / 80) > 1e-9
