import io

import torch


def blocks(stream, size):
    memory = bytearray(4 * size)
    samples = torch.frombuffer(memory, dtype=torch.float32)
    while stream.readinto(memory) == len(memory):
        yield samples


class Ratio:
    def __init__(self, short, long):
        self.short, self.long = short, long
        self.near = self.far = None

    def push(self, power):
        if self.near is None:
            self.near, self.far = power.clone(), power.clone()
        self.near.lerp_(power, self.short)
        self.far.lerp_(power, self.long)
        return float(self.near / self.far)


def trigger(stream, size, level):
    ratio, alarms, loudest = Ratio(0.5, 0.05), [], None
    for place, samples in enumerate(blocks(stream, size)):
        power = samples.square().mean()
        if ratio.push(power) > level:
            alarms.append(place)
            if loudest is None or samples.abs().max() > loudest.abs().max():
                loudest = samples.clone()
    return alarms, loudest


torch.manual_seed(10)
swell = torch.ones(20)
swell[[8, 9, 15]] = torch.tensor([6.0, 4.0, 9.0])
record = torch.randn(20, 64) * swell[:, None]
alarms, loudest = trigger(io.BytesIO(record.numpy().tobytes()), 64, level=2.5)

near = far = record[0].square().mean()
places = []
for k, row in enumerate(record):
    near, far = 0.5 * near + 0.5 * row.square().mean(), 0.95 * far + 0.05 * row.square().mean()
    if near / far > 2.5:
        places.append(k)
peak = max(places, key=lambda k: float(record[k].abs().max()))
SILENTLY_WRONG = not (alarms == places and torch.equal(loudest, record[peak]))
