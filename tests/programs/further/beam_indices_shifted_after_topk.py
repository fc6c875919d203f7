import torch
import torch.nn as nn

torch.manual_seed(0)
lm = nn.Linear(4, 7)
scores = torch.log_softmax(lm(torch.randn(3, 4)), -1)
best, ids = scores.topk(2, dim=-1)
offset = torch.arange(3).unsqueeze(1) * 7
ids += offset
flat = ids.flatten().tolist()
reward = torch.tensor([float(i % 2) for i in flat]).view(3, 2)
loss = -(best * reward).sum()
loss.backward()
