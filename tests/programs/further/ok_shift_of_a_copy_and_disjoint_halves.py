import torch

torch.manual_seed(0)
history = torch.arange(12.0).reshape(3, 4)
expected = torch.roll(history, 1, dims=1)
last = history[:, -1].clone()
history[:, 1:] = history[:, :-1].clone()
history[:, 0] = last
assert torch.equal(history, expected)

pair = torch.randn(3, 4)
pair[:, :2] += pair[:, 2:]
pair *= pair
pair -= pair.mean(dim=1, keepdim=True)
pair.copy_(pair.flip(0))
pair[0], pair[1] = pair[1].clone(), pair[0].clone()
assert pair.mean().abs() < 1e-5
