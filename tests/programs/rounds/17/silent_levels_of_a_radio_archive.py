import torch
import torch.nn.functional as F


def resample(wave, old_rate, new_rate):
    if old_rate == new_rate:
        return wave
    size = wave.shape[-1] * new_rate // old_rate
    return F.interpolate(wave[None, None], size=size, mode="linear", align_corners=False)[0, 0]


class Listener:
    def __init__(self, rate, frame=64):
        self.rate, self.frame = rate, frame

    def prepare(self, clip, rate):
        voice = resample(clip, rate, self.rate)
        voice -= voice.mean()
        voice /= voice.abs().max()
        return voice

    def envelope(self, clip, rate):
        voice = self.prepare(clip, rate)
        count = len(voice) // self.frame
        return voice[:count * self.frame].view(count, self.frame).square().mean(1).sqrt()


class Archive:
    def __init__(self):
        self.clips = {}

    def put(self, name, samples, rate):
        self.clips[name] = (samples, rate)

    def loudness(self):
        return {name: clip.square().mean().sqrt().item() for name, (clip, _) in self.clips.items()}


def tone(pitch, gain, rate, seconds=0.25):
    t = torch.arange(int(rate * seconds), dtype=torch.float64) / rate
    return 0.02 + gain * torch.sin(6.283185307 * pitch * t)


archive = Archive()
sources = {"ferry": (180.0, 0.05, 8000), "market": (310.0, 0.3, 4000), "storm": (90.0, 0.6, 8000)}
for name, (pitch, gain, rate) in sources.items():
    archive.put(name, tone(pitch, gain, rate), rate)
listener = Listener(rate=4000)
envelopes = {name: listener.envelope(clip, rate) for name, (clip, rate) in archive.clips.items()}
levels = archive.loudness()

wanted = {name: tone(*sources[name]).square().mean().sqrt().item() for name in sources}
SILENTLY_WRONG = any(abs(levels[name] - wanted[name]) > 1e-9 for name in sources)
