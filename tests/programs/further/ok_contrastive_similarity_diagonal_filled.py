import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder = nn.Linear(5, 4)
x = torch.randn(3, 5)
views = torch.cat([x, x + 0.1 * torch.randn(3, 5)])

z = F.normalize(encoder(views), dim=1)
similarity = z @ z.t()
similarity /= 0.5
similarity.fill_diagonal_(-1e9)
partner = torch.arange(6).roll(3)
loss = F.cross_entropy(similarity, partner)
loss.backward()
