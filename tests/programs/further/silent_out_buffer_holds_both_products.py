import torch

torch.manual_seed(0)
a, b, c = torch.randn(3, 3), torch.randn(3, 3), torch.randn(3, 3)
buffer = torch.empty(3, 3)
honest = (a @ b) * (a @ c)
first = torch.mm(a, b, out=buffer)
second = torch.mm(a, c, out=buffer)
both = first * second
SILENTLY_WRONG = not torch.allclose(both, honest)
