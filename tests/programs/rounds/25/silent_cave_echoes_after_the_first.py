import torch


def first_returns(pings, floor):
    """Sets all echoes above the floor to silence but the first of each ping."""
    cleaned = pings.clone()
    for ping in cleaned:
        heard = ping > floor
        if heard.sum() > 1:
            ping[heard][1:] = 0.0
    return cleaned


def distances(pings, floor, sound=343.0, rate=8000.0):
    places = torch.arange(pings.shape[1]) / rate * sound / 2
    weight = torch.where(pings > floor, pings, torch.zeros_like(pings))
    return (weight * places).sum(dim=1) / weight.sum(dim=1).clamp(min=1e-6)


torch.manual_seed(33)
samples = 300
wall = torch.randint(30, 120, (10,))
pings = 0.05 * torch.rand(10, samples)
for number, delay in enumerate(wall.tolist()):
    pings[number, delay] = 1.0
    pings[number, 2 * delay] = 0.6
    pings[number, min(2 * delay + 25, samples - 1)] = 0.4

cleaned = first_returns(pings, floor=0.2)
metres = distances(cleaned, floor=0.2)
print("nearest wall", round(float(metres.min()), 3), "farthest", round(float(metres.max()), 3))

expected = [delay / 8000.0 * 343.0 / 2 for delay in wall.tolist()]
SILENTLY_WRONG = not torch.allclose(metres, torch.tensor(expected), atol=1e-3)
