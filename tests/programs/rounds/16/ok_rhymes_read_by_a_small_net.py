import torch
import torch.nn as nn


class Reader(nn.Module):
    def __init__(self, signs, size):
        super().__init__()
        self.enter = nn.Parameter(torch.empty(signs, size))
        self.leave = nn.Parameter(torch.empty(size))
        self.rebuild(seed=0)

    @torch.no_grad()
    def rebuild(self, seed):
        dice = torch.Generator().manual_seed(seed)
        self.enter.normal_(0.0, 0.3, generator=dice)
        self.leave.zero_()

    def forward(self, words):
        return torch.tanh(self.enter[words].sum(dim=1)) @ self.leave


class Session:
    def __init__(self, net, rate):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=rate)

    def restart(self, seed):
        self.net.rebuild(seed)

    def learn(self, words, valid, epochs):
        for _ in range(epochs):
            self.optimizer.zero_grad()
            scores = self.net(words)
            nn.functional.binary_cross_entropy_with_logits(scores, valid).backward()
            self.optimizer.step()
        return self.net(words).detach()


torch.manual_seed(35)
words = torch.randint(0, 5, (20, 6))
valid = (words.sum(dim=1) % 2).float()
session = Session(Reader(5, 8), rate=0.5)
session.learn(words, valid, epochs=10)
session.restart(seed=7)
scores = session.learn(words, valid, epochs=10)

enter = torch.empty(5, 8).normal_(0.0, 0.3, generator=torch.Generator().manual_seed(7)).requires_grad_()
leave = torch.zeros(8, requires_grad=True)
counts = nn.functional.one_hot(words, 5).sum(dim=1).float()
for _ in range(10):
    out = torch.tanh(counts @ enter) @ leave
    loss = (nn.functional.softplus(out) - valid * out).mean()
    grads = torch.autograd.grad(loss, (enter, leave))
    enter, leave = [(p - 0.5 * g).detach().requires_grad_() for p, g in zip((enter, leave), grads)]
SILENTLY_WRONG = not torch.allclose(scores, torch.tanh(counts @ enter) @ leave, atol=1e-4)
