import torch

torch.manual_seed(0)
x = torch.arange(12.0).reshape(6, 2)
reference = x.clone()
reference[0::2] = x[0::2] + x[1::2]
x[0::2] += x[1::2]
assert torch.equal(x, reference)

x[:, 0] -= x[:, 1]
square = torch.rand(4, 4)
square.diagonal().fill_(0.0)
square.diagonal(1).copy_(square.diagonal(-1))
signal = torch.rand(8)
signal.unfold(0, 2, 2).mul_(torch.tensor([1.0, -1.0]))
signal[torch.tensor([0, 1])] = signal[torch.tensor([1, 0])]
signal.masked_fill_(signal < 0, 0.0)
torch.add(signal, signal, out=signal)
one = torch.zeros(1, 3).expand(1, 3)
one[0] = 5.0
assert one.sum() == 15
