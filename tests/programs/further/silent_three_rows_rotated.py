import torch

torch.manual_seed(0)
x = torch.randn(3, 2)
honest = x[[1, 2, 0]].clone()
x[0], x[1], x[2] = x[1], x[2], x[0]
SILENTLY_WRONG = not torch.equal(x, honest)
