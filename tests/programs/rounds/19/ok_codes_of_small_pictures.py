import torch
import torch.nn as nn
import torch.nn.functional as F


class MovingCodebook(nn.Module):
    def __init__(self, codes, width, decay=0.8, eps=1e-5):
        super().__init__()
        self.decay, self.eps = decay, eps
        self.register_buffer("codes", torch.randn(codes, width))
        self.register_buffer("count", torch.ones(codes))
        self.register_buffer("total", self.codes.clone())

    def forward(self, x):
        index = torch.cdist(x, self.codes).argmin(dim=1)
        chosen = self.codes[index]
        if self.training:
            self.move(x.detach(), index)
        commitment = F.mse_loss(x, chosen)
        return x + (chosen - x).detach(), commitment

    @torch.no_grad()
    def move(self, x, index):
        self.count.mul_(self.decay).add_(torch.bincount(index, minlength=len(self.codes)), alpha=1 - self.decay)
        self.total.mul_(self.decay).index_add_(0, index, x, alpha=1 - self.decay)
        size = self.count.sum()
        smooth = (self.count + self.eps) / (size + len(self.count) * self.eps) * size
        torch.div(self.total, smooth.unsqueeze(1), out=self.codes)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.book, self.out = nn.Linear(9, 2), MovingCodebook(5, 2), nn.Linear(2, 9)

    def forward(self, x):
        coded, commitment = self.book(self.into(x))
        return F.mse_loss(self.out(coded), x) + 0.25 * commitment


torch.manual_seed(2905)
net = Encoder().double()
codes = net.book.codes.clone()
count, total = torch.ones(5).double(), codes.clone()
batches, got, expected = torch.rand(4, 12, 9).double().unbind(), [], []
for x in batches:
    loss = net(x)
    loss.backward()
    got.append(torch.cat([loss.detach().view(1), net.into.weight.grad.flatten()]))
    net.zero_grad()

into, out = [(m.weight.detach().clone().requires_grad_(), m.bias.detach()) for m in (net.into, net.out)]
for x in batches:
    hidden = x @ into[0].T + into[1]
    index = (hidden[:, None] - codes[None]).square().sum(dim=2).argmin(dim=1)
    near = torch.stack([codes[i] for i in index.tolist()])
    through = hidden + (near - hidden).detach()
    loss = (through @ out[0].T + out[1] - x).square().mean() + 0.25 * (hidden - near).square().mean()
    (slope,) = torch.autograd.grad(loss, into[0])
    expected.append(torch.cat([loss.detach().view(1), slope.flatten()]))
    hot = torch.eye(5).double()[index]
    count, total = 0.8 * count + 0.2 * hot.sum(dim=0), 0.8 * total + 0.2 * hot.T @ hidden.detach()
    codes = total / ((count + 1e-5) / (count.sum() + 5e-5) * count.sum()).unsqueeze(1)
SILENTLY_WRONG = not (torch.allclose(torch.stack(got), torch.stack(expected)) and torch.allclose(net.book.codes, codes))
