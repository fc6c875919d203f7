import torch


class Emphasis:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, waves):
        waves = waves.clone()
        waves[:, 1:] -= self.amount * waves[:, :-1]
        waves[:, 0] *= 1 - self.amount
        return waves


def fade(waves, length):
    ramp = torch.linspace(0, 1, length, dtype=waves.dtype)
    waves[:, :length].mul_(ramp)
    waves[:, -length:].mul_(ramp.flip(0))
    return waves


def loudest(waves, emphasis, length):
    bright = fade(emphasis(waves), length)
    power = bright.square().unfold(1, 16, 8).mean(dim=2)
    return power.argmax(dim=1), power.amax(dim=1)


torch.manual_seed(203)
waves = torch.randn(4, 96, dtype=torch.float64).cumsum(dim=1)
place, power = loudest(waves, Emphasis(0.95), length=10)

expected = []
for row in waves.tolist():
    bright = [0.05 * row[0]] + [after - 0.95 * before for before, after in zip(row[:-1], row[1:])]
    bright = [b * min(1.0, i / 9, (95 - i) / 9) for i, b in enumerate(bright)]
    expected.append(max(sum(b * b for b in bright[i:i + 16]) / 16 for i in range(0, 81, 8)))
SILENTLY_WRONG = not torch.allclose(power, torch.tensor(expected, dtype=torch.float64))
