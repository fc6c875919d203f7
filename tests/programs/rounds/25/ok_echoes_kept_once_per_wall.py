import torch


def only_first(pings, floor):
    """Leaves the first echo over the floor in each line and silences the rest in place."""
    heard = pings > floor
    later = heard & (heard.cumsum(dim=1) > 1)
    pings[later] = 0.0
    return pings


def soften(pings, floor, factor):
    loud = pings > floor
    part = pings[loud]
    part.mul_(factor)
    pings[loud] = part
    return pings


torch.manual_seed(34)
pings = 0.05 * torch.rand(8, 200)
wall = torch.randint(20, 90, (8,)).tolist()
for line, delay in zip(pings, wall):
    line[delay] = 0.9
    line[2 * delay] = 0.5
    line[delay + 5] += 0.3
heard = pings.tolist()
soften(only_first(pings, floor=0.2), floor=0.2, factor=0.5)
print("echoes left", int((pings > 0.2).sum()), "loudest", round(float(pings.max()), 3))

expected = []
for line in heard:
    out, found = [], False
    for value in line:
        if value > 0.2:
            out.append(0.0 if found else 0.5 * value)
            found = True
        else:
            out.append(value)
    expected.append(out)
SILENTLY_WRONG = not torch.allclose(pings, torch.tensor(expected), atol=1e-6)
