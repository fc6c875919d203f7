import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
backbone = nn.Sequential(nn.Linear(6, 12), nn.Tanh())
head = nn.Linear(12, 3)
batches = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(4)]
optimizer = torch.optim.SGD(
    [{"params": backbone.parameters(), "lr": 0.02}, {"params": head.parameters()}],
    lr=0.1, momentum=0.9, weight_decay=1e-3)

for epoch in range(5):
    if epoch == 2:
        for p in backbone.parameters():
            p.requires_grad = False
        frozen = backbone[0].weight.clone()
    for x, y in batches:
        loss = F.cross_entropy(head(backbone(x)), y)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()

probe = torch.randn(5, 6)
features = backbone(probe)
expected = torch.tanh(probe @ frozen.t() + backbone[0].bias)
SILENTLY_WRONG = not torch.allclose(features, expected, atol=1e-6)
