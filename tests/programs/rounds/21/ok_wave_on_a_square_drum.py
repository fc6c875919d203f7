import torch


class Drum:
    """Displacement of a skin that is fixed at the rim; two fields take turns."""

    def __init__(self, skin, speed):
        self.now = skin.clone()
        self.past = skin.clone()
        self.speed = speed

    def step(self):
        now, past = self.now, self.past
        inner = now[1:-1, 1:-1]
        bend = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4 * inner
        past[1:-1, 1:-1].neg_().add_(inner, alpha=2).add_(bend, alpha=self.speed ** 2)
        self.now, self.past = past, now

    def run(self, steps, microphone):
        heard = torch.empty(steps, dtype=self.now.dtype)
        for k in range(steps):
            self.step()
            heard[k] = self.now[microphone]
        return heard


side, speed = 21, 0.5
line = torch.linspace(0, torch.pi, side, dtype=torch.float64)
skin = line.sin()[:, None] * (2 * line).sin()
drum = Drum(skin, speed)
heard = drum.run(80, microphone=(10, 5))
print("loudest", heard.abs().max().item(), "last", heard[-1].item())

k = torch.pi / (side - 1)
pull = 4 * (torch.sin(torch.tensor(k / 2)) ** 2 + torch.sin(torch.tensor(k)) ** 2).item()
before = after = skin[10, 5].item()
expected = []
for _ in range(80):
    before, after = after, 2 * after - before - speed ** 2 * pull * after
    expected.append(after)
SILENTLY_WRONG = not torch.allclose(heard, torch.tensor(expected, dtype=torch.float64), atol=1e-5)
