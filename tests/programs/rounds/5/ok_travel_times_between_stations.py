import torch

torch.manual_seed(1)
stations = 14
minutes = torch.full((stations, stations), float("inf"))
for _ in range(40):
    a, b = torch.randint(0, stations, (2,)).tolist()
    minutes[a, b] = minutes[b, a] = float(torch.randint(2, 30, ()))
minutes.fill_diagonal_(0)
lines = minutes.clone()

for via in range(stations):
    detour = minutes[:, via:via + 1] + minutes[via:via + 1, :]
    torch.minimum(minutes, detour, out=minutes)

expected = lines
for _ in range(4):
    expected = (expected[:, :, None] + expected[None, :, :]).amin(dim=1)
SILENTLY_WRONG = not torch.equal(minutes, expected)
