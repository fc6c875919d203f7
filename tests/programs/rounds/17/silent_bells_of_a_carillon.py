import io

import numpy as np
import torch


class RingReader:
    """Reads named float arrays from a stream through a small ring of slots."""

    def __init__(self, stream, index, slots=3):
        self.stream, self.index = stream, index
        self.ring = torch.empty(slots, max(index.values()))

    def tensors(self):
        for turn, (name, count) in enumerate(self.index.items()):
            slot = self.ring[turn % len(self.ring)][:count]
            raw = np.frombuffer(self.stream.read(4 * count), dtype=np.float32)
            slot.copy_(torch.from_numpy(raw.copy()))
            yield name, slot


class Carillon:
    def __init__(self, partials):
        self.partials = partials

    @classmethod
    def load(cls, stream, index):
        reader = RingReader(stream, index)
        return cls(dict(reader.tensors()))

    def strike(self, name, base, seconds, rate=2000):
        t = torch.arange(int(seconds * rate)) / rate
        weights = self.partials[name]
        order = torch.arange(1, len(weights) + 1)
        return torch.sin(6.2831853 * base * order[:, None] * t).T @ weights


def pressed(bells):
    stream = io.BytesIO(b"".join(b.tobytes() for b in bells.values()))
    return stream, {name: len(b) for name, b in bells.items()}


dice = np.random.default_rng(6)
sizes = {"bourdon": 6, "prime": 4, "tierce": 5, "quint": 4, "nominal": 3, "treble": 5}
bells = {name: dice.random(n, dtype=np.float32) for name, n in sizes.items()}
carillon = Carillon.load(*pressed(bells))
chime = {name: carillon.strike(name, base=110.0, seconds=0.05).square().mean() for name in bells}

wrong = []
for name, partials in bells.items():
    t = np.arange(100) / 2000
    wave = sum(w * np.sin(6.2831853 * 110 * (k + 1) * t) for k, w in enumerate(partials))
    wrong.append(abs((wave ** 2).mean() - chime[name].item()) > 1e-3)
SILENTLY_WRONG = any(wrong)
