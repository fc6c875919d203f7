import torch
import torch.nn as nn

torch.manual_seed(0)
head = nn.Linear(3, 4)
points = torch.randn(5, 3)
where = torch.tensor([0, 2, 2, 4, 5])

canvas = torch.zeros(6, 4)
canvas.index_put_((where,), head(points), accumulate=True)
canvas[1] = head(points[0]).sigmoid()
canvas[3, :2] += points[0, :2]
rows = torch.zeros(2, 4)
for i, row in enumerate(head(points[:2])):
    rows[i] = row * 2
loss = canvas.pow(2).mean() + rows.abs().sum()
loss.backward()
