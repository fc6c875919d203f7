import torch
import torch.nn as nn
import torch.nn.functional as F


def make_reader():
    torch.manual_seed(4)
    return nn.Sequential(nn.Linear(24, 16), nn.Tanh(), nn.Linear(16, 10))


def first_guess(strips, epoch, reach):
    dice = torch.Generator().manual_seed(epoch)
    return torch.empty_like(strips).uniform_(-reach, reach, generator=dice)


def worst_smudge(reader, opt, strips, digits, epoch, reach=0.3, pace=0.1, rounds=6):
    """Smudge within reach that makes the reader err most."""
    smudge = first_guess(strips, epoch, reach).requires_grad_()
    for _ in range(rounds):
        loss = F.cross_entropy(reader(strips + smudge), digits)
        opt.zero_grad()
        loss.backward()
        with torch.no_grad():
            smudge += pace * smudge.grad.sign()
            smudge.clamp_(-reach, reach)
    return smudge.detach()


def train(reader, strips, digits, epochs):
    opt = torch.optim.SGD(reader.parameters(), lr=0.5)
    for epoch in range(epochs):
        smudge = worst_smudge(reader, opt, strips, digits, epoch)
        opt.zero_grad()
        F.cross_entropy(reader(strips + smudge), digits).backward()
        opt.step()
    return smudge


torch.manual_seed(1)
strips, digits = torch.rand(80, 24).round(), torch.randint(0, 10, (80,))
reader = make_reader()
smudge = train(reader, strips, digits, epochs=5)
print("error under smudge", F.cross_entropy(reader(strips + smudge), digits).item())

other = make_reader()
weights = list(other.parameters())
for epoch in range(5):
    worst = first_guess(strips, epoch, 0.3)
    for _ in range(6):
        worst.requires_grad_()
        slope, = torch.autograd.grad(F.cross_entropy(other(strips + worst), digits), worst)
        worst = (worst.detach() + 0.1 * slope.sign()).clamp(-0.3, 0.3)
    slopes = torch.autograd.grad(F.cross_entropy(other(strips + worst), digits), weights)
    with torch.no_grad():
        for w, s in zip(weights, slopes):
            w.sub_(0.5 * s)
SILENTLY_WRONG = not torch.allclose(smudge, worst, atol=1e-4)
