import torch


class Pattern:
    def __init__(self, buffer, filled):
        self.buffer = buffer
        self.filled = filled

    @property
    def beats(self):
        return self.buffer[: self.filled]


def join(first, more):
    filled = first.filled.clone()
    filled += len(more)
    buffer = torch.zeros(max(len(first.buffer), int(filled)))
    buffer[: first.filled] = first.beats
    buffer[first.filled : filled] = more
    return Pattern(buffer, filled)


base = Pattern(torch.tensor([1.0, 0.5, 0.8, 0.5, 0.0, 0.0]), torch.tensor(4))
endings = [torch.tensor([1.0, 1.0]), torch.tensor([0.2, 0.4, 0.9]), torch.tensor([0.7])]
played = [join(base, ending) for ending in endings]
loudness = torch.stack([p.beats.mean() for p in played])
print("loudness", loudness.tolist(), "beats of the base", int(base.filled))

expected = torch.tensor([(2.8 + float(e.sum())) / (4 + len(e)) for e in endings])
SILENTLY_WRONG = not torch.allclose(loudness, expected, atol=1e-5)
