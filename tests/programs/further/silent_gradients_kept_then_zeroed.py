import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
task_a, task_b = torch.randn(6, 4), torch.randn(6, 4) + 1
y = torch.randint(0, 2, (6,))

F.cross_entropy(net(task_a), y).backward()
grads_a = [p.grad for p in net.parameters()]
kept = grads_a[0].norm().item()
optimizer.zero_grad(set_to_none=False)
F.cross_entropy(net(task_b), 1 - y).backward()
grads_b = [p.grad for p in net.parameters()]
cosine = F.cosine_similarity(grads_a[0].flatten(), grads_b[0].flatten(), dim=0)
SILENTLY_WRONG = abs(grads_a[0].norm().item() - kept) > 1e-4
