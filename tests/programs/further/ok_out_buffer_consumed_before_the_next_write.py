import torch

torch.manual_seed(0)
a, b, c = torch.randn(3, 3), torch.randn(3, 3), torch.randn(3, 3)
buffer = torch.empty(3, 3)
first = torch.mm(a, b, out=buffer)
trace = first.trace()
second = torch.mm(a, c, out=buffer)
both = trace * second.trace()
torch.add(second, 1, out=buffer)
print(buffer.sum())
