import torch

started = 1_700_000_000.0
offsets = [0.0, 12.5, 31.0, 47.25, 90.0, 118.5, 160.0]
marks = torch.tensor([0, 1, 0, 1, 1, 0, 1])

times = torch.zeros(len(offsets))
for i, offset in enumerate(offsets):
    times[i] = started + offset

gaps = times[1:] - times[:-1]
decay = torch.exp(-gaps / 30.0)
intensity = torch.zeros(len(offsets))
for i in range(1, len(offsets)):
    intensity[i] = decay[i - 1] * (intensity[i - 1] + marks[i - 1])

expected, level = [0.0], 0.0
for i in range(1, len(offsets)):
    level = (level + marks[i - 1].item()) * torch.exp(torch.tensor(-(offsets[i] - offsets[i - 1]) / 30.0)).item()
    expected.append(level)
SILENTLY_WRONG = not torch.allclose(intensity, torch.tensor(expected), atol=1e-4)
