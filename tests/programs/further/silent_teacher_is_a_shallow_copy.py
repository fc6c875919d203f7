import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
teacher = copy.copy(student)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
with torch.no_grad():
    honest = teacher(x).softmax(1)
opt = torch.optim.SGD(student.parameters(), lr=0.5)
for step in range(3):
    logits = student(x)
    with torch.no_grad():
        soft = teacher(x).softmax(1)
    loss = F.cross_entropy(logits, y) + F.kl_div(logits.log_softmax(1), soft, reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
SILENTLY_WRONG = not torch.allclose(soft, honest, atol=1e-3)
