import torch


class Row:
    """A row of loudspeakers that play one tone, each with a gain of its own and all with one master gain."""

    def __init__(self, tone, gains):
        self.tone = tone
        self.gains = gains
        self.lines = tone.expand(len(gains), -1)

    def master(self, factor):
        self.tone.mul_(factor)

    def fade_in(self, samples):
        self.tone[:samples].mul_(torch.linspace(0.0, 1.0, samples))

    def play(self):
        out = self.lines * self.gains[:, None]
        out.clamp_(-1.0, 1.0)
        return out


torch.manual_seed(24)
rate = 8000
tone = torch.sin(2 * torch.pi * 440.0 * torch.arange(800) / rate)
pure = tone.tolist()
row = Row(tone, torch.tensor([0.5, 1.0, 1.5, 2.0]))
row.master(0.8)
row.fade_in(100)
sound = row.play()
row.master(0.5)
quiet = row.play()
print("levels", [round(level, 3) for level in sound.square().mean(dim=1).sqrt().tolist()])

ramp = [k / 99 for k in range(100)] + [1.0] * 700
expected = {}
for factor in (0.8, 0.4):
    expected[factor] = [
        [max(-1.0, min(1.0, gain * factor * r * p)) for r, p in zip(ramp, pure)] for gain in (0.5, 1.0, 1.5, 2.0)
    ]
SILENTLY_WRONG = not (
    torch.allclose(sound, torch.tensor(expected[0.8]), atol=1e-4)
    and torch.allclose(quiet, torch.tensor(expected[0.4]), atol=1e-4)
)
