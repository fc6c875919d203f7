import io

import numpy as np
import torch


class RingReader:
    """Reads named float arrays from a stream through a small ring of slots."""

    def __init__(self, stream, index, slots=2):
        self.stream, self.index = stream, index
        self.ring = torch.empty(slots, max(index.values()))

    def tensors(self):
        for turn, (name, count) in enumerate(self.index.items()):
            slot = self.ring[turn % len(self.ring)][:count]
            raw = np.frombuffer(self.stream.read(4 * count), dtype=np.float32)
            slot.copy_(torch.from_numpy(raw.copy()))
            yield name, slot


class Organ:
    def __init__(self, stream, index, kept):
        self.power, self.bright, self.kept = {}, {}, {}
        for name, partials in RingReader(stream, index).tensors():
            order = torch.arange(1, len(partials) + 1)
            self.power[name] = partials.square().sum()
            self.bright[name] = (order * partials).sum() / partials.sum()
            if name in kept:
                self.kept[name] = partials.clone()

    def loudest(self):
        return max(self.power, key=lambda name: self.power[name].item())


def pressed(pipes):
    stream = io.BytesIO(b"".join(p.tobytes() for p in pipes.values()))
    return stream, {name: len(p) for name, p in pipes.items()}


dice = np.random.default_rng(16)
sizes = {"bourdon": 5, "flute": 3, "viola": 6, "trumpet": 7, "quint": 4}
pipes = {name: dice.random(n, dtype=np.float32) for name, n in sizes.items()}
organ = Organ(*pressed(pipes), kept={"flute", "bourdon"})

wrong = [organ.loudest() != max(pipes, key=lambda name: (pipes[name] ** 2).sum())]
for name, partials in pipes.items():
    bright = (np.arange(1, len(partials) + 1) * partials).sum() / partials.sum()
    wrong.append(abs(organ.power[name].item() - (partials ** 2).sum()) > 1e-4)
    wrong.append(abs(organ.bright[name].item() - bright) > 1e-4)
    wrong.append(name in organ.kept and not np.array_equal(organ.kept[name].numpy(), partials))
SILENTLY_WRONG = any(wrong)
