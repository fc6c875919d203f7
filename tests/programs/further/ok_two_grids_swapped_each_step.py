import torch

torch.manual_seed(0)
current, following = torch.rand(6, 6), torch.zeros(6, 6)
total = current.sum().item()
for step in range(4):
    torch.add(torch.roll(current, 1, 0), torch.roll(current, -1, 0), out=following)
    following += torch.roll(current, 1, 1)
    following += torch.roll(current, -1, 1)
    following.div_(4)
    current, following = following, current
assert abs(current.sum().item() - total) < 1e-3
