import torch

torch.manual_seed(0)
order = torch.randn(4, 3)
honest = order.clone()
honest[[0, 2]] = honest[[2, 0]]
order[0], order[2] = order[2], order[0]
SILENTLY_WRONG = not torch.equal(order, honest)
