import torch


class Resonators:
    """Bank of two-pole filters that writes into its own workspace."""

    def __init__(self, pitches, radius, longest):
        self.turn = 2 * radius * torch.cos(torch.tensor(pitches, dtype=torch.float64))
        self.shrink = radius ** 2
        self.work = torch.zeros(longest + 2, len(pitches), dtype=torch.float64)

    def run(self, wave):
        self.work.zero_()
        for t, sample in enumerate(wave):
            row = self.work[t + 2]
            torch.mul(self.work[t + 1], self.turn, out=row)
            row.sub_(self.work[t], alpha=self.shrink).add_(sample)
        return self.work[2:len(wave) + 2]

    def energy(self, wave):
        return self.run(wave).square().mean(dim=0)

    def envelope(self, wave):
        return self.run(wave).abs().clone()


def level_difference(bank, left, right):
    return 10 * (bank.energy(left) / bank.energy(right)).log10()


def lag(bank, left, right, widest):
    a, b = bank.run(left).clone(), bank.run(right)
    scores = [(a[d:] * b[:len(b) - d]).sum(dim=0) for d in range(widest)]
    return torch.stack(scores).argmax(dim=0)


torch.manual_seed(2910)
source = torch.randn(130, dtype=torch.float64)
left, right = 0.5 * source[:120], source[4:124]
bank = Resonators([0.4, 0.9, 1.7], radius=0.9, longest=120)
difference = level_difference(bank, left, right)
delay = lag(bank, left, right, widest=8)
ratio = bank.envelope(left) - bank.envelope(right)


def filtered(wave, pitch):
    turn, out = 2 * 0.9 * torch.cos(torch.tensor(pitch, dtype=torch.float64)).item(), [0.0, 0.0]
    for sample in wave.tolist():
        out.append(turn * out[-1] - 0.81 * out[-2] + sample)
    return torch.tensor(out[2:], dtype=torch.float64)


a = torch.stack([filtered(left, p) for p in (0.4, 0.9, 1.7)], dim=1)
b = torch.stack([filtered(right, p) for p in (0.4, 0.9, 1.7)], dim=1)
levels = 10 * (a.square().mean(dim=0) / b.square().mean(dim=0)).log10()
best = torch.stack([(a[d:] * b[:120 - d]).sum(dim=0) for d in range(8)]).argmax(dim=0)
SILENTLY_WRONG = not (
    torch.allclose(difference, levels) and torch.equal(delay, best) and torch.allclose(ratio, a.abs() - b.abs())
)
