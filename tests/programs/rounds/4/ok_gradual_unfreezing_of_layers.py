import torch
import torch.nn as nn

torch.manual_seed(22)
batches = [(torch.randn(8, 5), torch.randint(0, 3, (8,))) for _ in range(3)]
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))
linears = [m for m in model if isinstance(m, nn.Linear)]
for p in model.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-2)

moved = []
for layer in reversed(linears):
    for p in layer.parameters():
        p.requires_grad = True
    before = [m.weight.clone() for m in linears]
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    moved.append([not torch.equal(b, m.weight) for b, m in zip(before, linears)])

expected = [[False, False, True], [False, True, True], [True, True, True]]
SILENTLY_WRONG = moved != expected
