import torch
import torch.nn as nn


class MarginLoss(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, scores, classes):
        kept = scores.gather(1, classes.unsqueeze_(1))
        gaps = (self.margin + scores - kept).clamp(min=0)
        return gaps.mean()


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


torch.manual_seed(5)
features = torch.randn(96, 6)
classes = (features @ torch.randn(6, 4)).argmax(dim=1)
net = nn.Linear(6, 4)
start = [p.detach().clone() for p in net.parameters()]
loader = [(features[i:i + 16].clone(), classes[i:i + 16].clone()) for i in range(0, 96, 16)]
rate = epoch(net, loader, MarginLoss(1.0), torch.optim.SGD(net.parameters(), lr=0.2))

weight, bias = [p.requires_grad_() for p in start]
right = 0
for i in range(0, 96, 16):
    scores = features[i:i + 16] @ weight.T + bias
    right += sum(int(s.argmax()) == int(c) for s, c in zip(scores, classes[i:i + 16]))
    own = scores[torch.arange(16), classes[i:i + 16]]
    grads = torch.autograd.grad((1.0 + scores - own[:, None]).clamp(min=0).mean(), (weight, bias))
    weight, bias = [(p - 0.2 * g).detach().requires_grad_() for p, g in zip((weight, bias), grads)]
SILENTLY_WRONG = abs(rate - right / 96) > 1e-9
