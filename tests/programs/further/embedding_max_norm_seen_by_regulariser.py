import torch
import torch.nn.functional as F

torch.manual_seed(0)
table = (torch.randn(6, 4) * 3).requires_grad_()
ids = torch.tensor([0, 3, 3])

penalty = table.norm(dim=1).mean()
looked_up = F.embedding(ids, table, max_norm=1.0)
loss = looked_up.pow(2).sum() + 0.1 * penalty
loss.backward()
