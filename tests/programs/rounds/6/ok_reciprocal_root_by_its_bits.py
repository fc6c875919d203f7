import torch


def reciprocal_root(x, rounds=3):
    guess = x.clone()
    bits = guess.view(torch.int32)
    bits.bitwise_right_shift_(1).neg_().add_(0x5F3759DF)
    for _ in range(rounds):
        guess.mul_(1.5 - 0.5 * x * guess * guess)
    return guess


def flip_signs(x, mask):
    out = x.clone()
    out.view(torch.int32).bitwise_xor_(mask.int() << 31)
    return out


class Directions:
    def __init__(self, arrows):
        self.arrows = arrows

    def unit(self):
        return self.arrows * reciprocal_root(self.arrows.pow(2).sum(dim=1, keepdim=True))

    def mirrored(self, mask):
        return flip_signs(self.unit(), mask)


torch.manual_seed(647)
arrows = torch.randn(40, 3) * torch.logspace(-3, 3, 40).unsqueeze(1)
kept = arrows.clone()
mask = torch.rand(40, 3) < 0.5
mirrored = Directions(arrows).mirrored(mask)
expected = kept / kept.norm(dim=1, keepdim=True) * torch.where(mask, -1.0, 1.0)
SILENTLY_WRONG = not (torch.allclose(mirrored, expected, atol=1e-5) and torch.equal(arrows, kept))
