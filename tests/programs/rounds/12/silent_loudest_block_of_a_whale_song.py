import io

import torch


def blocks(stream, size):
    memory = bytearray(2 * size)
    samples = torch.frombuffer(memory, dtype=torch.int16)
    while stream.readinto(memory) == len(memory):
        yield samples


class Loudest:
    def __init__(self):
        self.power, self.block, self.place = -1.0, None, -1

    def look(self, place, samples):
        power = samples.float().square().mean().item()
        if power > self.power:
            self.power, self.block, self.place = power, samples, place


def pitch(samples, rate):
    spectrum = torch.fft.rfft(samples.float() * torch.hann_window(len(samples)))
    return spectrum.abs()[1:].argmax().item() + 1


def analyse(stream, size, rate=4000):
    loudest = Loudest()
    for place, samples in enumerate(blocks(stream, size)):
        loudest.look(place, samples)
    return loudest.place, pitch(loudest.block, rate)


torch.manual_seed(9)
time = torch.arange(256)
tones = torch.tensor([5, 19, 33, 42, 11, 27])
loud = torch.tensor([0.2, 0.4, 0.9, 0.5, 0.3, 0.6])
song = torch.cat([a * torch.sin(2 * torch.pi * t * time / 256) for a, t in zip(loud, tones)])
record = (song * 20000 + 50 * torch.randn(len(song))).short()
place, measured = analyse(io.BytesIO(record.numpy().tobytes()), 256)

expected = int(tones[loud.argmax()])
SILENTLY_WRONG = measured != expected
