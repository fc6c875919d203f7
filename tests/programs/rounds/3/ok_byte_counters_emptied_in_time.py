import torch

torch.manual_seed(0)


class PixelHits:
    """Counts how often each pixel was foreground; small counters, emptied before they are full."""

    def __init__(self, shape):
        self.recent = torch.zeros(shape, dtype=torch.uint8)
        self.total = torch.zeros(shape, dtype=torch.int64)
        self.rounds = 0

    def add(self, mask):
        self.recent += mask
        self.rounds += 1
        if self.rounds == 255:
            self.flush()

    def flush(self):
        self.total += self.recent
        self.recent.zero_()
        self.rounds = 0

    def frequency(self, frames):
        self.flush()
        return self.total.float() / frames


def video(frames, generator):
    level = torch.rand(6, 6, generator=generator)
    for _ in range(frames):
        yield torch.rand(6, 6, generator=generator) < level


hits = PixelHits((6, 6))
for mask in video(600, torch.Generator().manual_seed(3)):
    hits.add(mask)
frequency = hits.frequency(600)

expected = torch.stack(list(video(600, torch.Generator().manual_seed(3)))).float().mean(0)
SILENTLY_WRONG = not torch.allclose(frequency, expected, atol=1e-6)
