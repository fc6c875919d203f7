import torch
import torch.nn as nn
import torch.nn.functional as F


class Queue:
    def __init__(self, width, size):
        self.keys = F.normalize(torch.randn(width, size), dim=0)
        self.place = 0

    def push(self, keys):
        end = self.place + len(keys)
        self.keys[:, self.place:end] = keys.T
        self.place = end % self.keys.shape[1]


class Contrast(nn.Module):
    def __init__(self, inputs, width, size):
        super().__init__()
        self.query, self.key = nn.Linear(inputs, width), nn.Linear(inputs, width)
        self.key.load_state_dict(self.query.state_dict())
        self.queue = Queue(width, size)

    def forward(self, first, second):
        with torch.no_grad():
            for slow, fast in zip(self.key.parameters(), self.query.parameters()):
                slow.mul_(0.9).add_(fast, alpha=0.1)
            keys = F.normalize(self.key(second), dim=1)
        queries = F.normalize(self.query(first), dim=1)
        others = queries @ self.queue.keys.clone()
        logits = torch.cat([(queries * keys).sum(dim=1, keepdim=True), others], dim=1).div_(0.2)
        self.queue.push(keys)
        return F.cross_entropy(logits, torch.zeros(len(first), dtype=torch.long))


torch.manual_seed(270)
net = Contrast(inputs=6, width=4, size=12)
weight, bias, bank = net.query.weight.detach().clone(), net.query.bias.detach().clone(), list(net.queue.keys.T.clone())
pairs = [(torch.randn(3, 6), torch.randn(3, 6)) for _ in range(6)]
optimizer = torch.optim.SGD(net.query.parameters(), lr=0.5)
for first, second in pairs:
    optimizer.zero_grad()
    net(first, second).backward()
    optimizer.step()

slow = (weight, bias)
for k, (first, second) in enumerate(pairs):
    slow = (0.9 * slow[0] + 0.1 * weight, 0.9 * slow[1] + 0.1 * bias)
    w, b = weight.requires_grad_(), bias.requires_grad_()
    keys = F.normalize(second @ slow[0].T + slow[1], dim=1).detach()
    queries = F.normalize(first @ w.T + b, dim=1)
    scores = torch.cat([(queries * keys).sum(dim=1, keepdim=True), queries @ torch.stack(bank).T], dim=1) / 0.2
    slopes = torch.autograd.grad((scores.logsumexp(dim=1) - scores[:, 0]).mean(), (w, b))
    weight, bias = (w - 0.5 * slopes[0]).detach(), (b - 0.5 * slopes[1]).detach()
    slow = (slow[0].detach(), slow[1].detach())
    begin = 3 * k % 12
    bank = bank[:begin] + list(keys) + bank[begin + 3:]
SILENTLY_WRONG = not torch.allclose(net.query.weight, weight, atol=1e-4)
