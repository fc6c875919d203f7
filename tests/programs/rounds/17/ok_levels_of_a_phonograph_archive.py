import torch
import torch.nn.functional as F


def resample(wave, old_rate, new_rate):
    if old_rate == new_rate:
        return wave
    size = wave.shape[-1] * new_rate // old_rate
    return F.interpolate(wave[None, None], size=size, mode="linear", align_corners=False)[0, 0]


class Listener:
    def __init__(self, rate, frame=50):
        self.rate, self.frame = rate, frame

    def prepare(self, clip, rate):
        voice = resample(clip, rate, self.rate)
        voice = voice - voice.mean()
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


def crackle(pitch, gain, rate, seconds=0.2):
    t = torch.arange(int(rate * seconds), dtype=torch.float64) / rate
    return 0.1 + gain * torch.sin(6.283185307 * pitch * t).pow(3)


archive = Archive()
sources = {"tenor": (220.0, 0.4, 6000), "polka": (130.0, 0.2, 3000), "speech": (75.0, 0.7, 3000)}
for name, (pitch, gain, rate) in sources.items():
    archive.put(name, crackle(pitch, gain, rate), rate)
listener = Listener(rate=3000)
envelopes = {name: listener.envelope(clip, rate) for name, (clip, rate) in archive.clips.items()}
levels = archive.loudness()

wrong = []
for name, (pitch, gain, rate) in sources.items():
    clip = crackle(pitch, gain, rate)
    wrong.append(abs(levels[name] - clip.square().mean().sqrt().item()) > 1e-9)
    if rate == 3000:
        even = (clip - clip.mean()) / (clip - clip.mean()).abs().max()
        frames = torch.stack([part.square().mean().sqrt() for part in even.split(50)])
        wrong.append(not torch.allclose(envelopes[name], frames))
SILENTLY_WRONG = any(wrong)
