import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class ContrastiveWithProbe(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.projector = nn.Linear(16, 4)
        self.probe = nn.Linear(16, 3)

    def forward(self, x):
        features = self.encoder(x)
        classes = self.probe(features.detach_())
        return self.projector(features), classes


def training_loss(model, view_a, view_b, labels):
    za, logits = model(view_a)
    zb, _ = model(view_b)
    alignment = 1 - F.cosine_similarity(za, zb).mean()
    return alignment + F.cross_entropy(logits, labels)


torch.manual_seed(4)
x, labels = torch.randn(24, 8), torch.randint(0, 3, (24,))
view_a, view_b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
model = ContrastiveWithProbe()
twin = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(5):
    loss = training_loss(model, view_a, view_b, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

optimizer = torch.optim.SGD(list(twin.encoder.parameters()) + list(twin.projector.parameters()), lr=0.5)
for _ in range(5):
    za, zb = twin.projector(twin.encoder(view_a)), twin.projector(twin.encoder(view_b))
    loss = 1 - F.cosine_similarity(za, zb).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
SILENTLY_WRONG = not torch.allclose(model.encoder[0].weight, twin.encoder[0].weight, atol=1e-6)
