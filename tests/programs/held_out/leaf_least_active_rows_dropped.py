import torch
import torch.nn.functional as F
from torch import nn


class SparseLearner(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(4, 6), nn.Linear(6, 3)
        self.register_buffer("activity", torch.zeros(6))

    def forward(self, x):
        hidden = F.relu(self.hidden(x))
        self.activity += hidden.detach().sum(0)
        return self.out(hidden)

    def drop(self, kept):
        idle = self.activity < self.activity.topk(kept).values[-1]
        self.hidden.weight[idle] = 0.0
        self.hidden.bias[idle] = 0.0


torch.manual_seed(0)
learner = SparseLearner()
optimizer = torch.optim.SGD(learner.parameters(), lr=0.1)
for x in torch.randn(2, 5, 4):
    optimizer.zero_grad()
    loss = F.cross_entropy(learner(x), torch.tensor([0, 1, 2, 1, 0]))
    loss.backward()
    optimizer.step()
    learner.drop(kept=4)
