import torch
import torch.nn as nn


class PrototypeNet(nn.Module):
    """Names an animal by the nearest mean of a few known prints."""

    def __init__(self, features, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, width))

    def forward(self, known, prints):
        centres = self.body(known).mean(dim=1)
        return -torch.cdist(self.body(prints), centres).square()


def draw_task(animals, shots=3, queries=5):
    chosen = torch.randperm(len(animals))[:4]
    prints = animals[chosen][:, None] + 0.8 * torch.randn(4, shots + queries, animals.shape[1])
    names = torch.arange(4).repeat_interleave(queries)
    return prints[:, :shots], prints[:, shots:].flatten(0, 1), names


torch.manual_seed(26)
animals, others = torch.randn(8, 10), torch.randn(8, 10)
model = PrototypeNet(10, 6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
validation = [draw_task(others) for _ in range(10)]

best_state, best_loss, validation_losses = None, float("inf"), []
for epoch in range(12):
    for _ in range(5):
        known, prints, names = draw_task(animals)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(known, prints), names).backward()
        optimizer.step()
    with torch.no_grad():
        losses = [nn.functional.cross_entropy(model(k, p), n) for k, p, n in validation]
    validation_losses.append(torch.stack(losses).mean().item())
    if validation_losses[-1] < best_loss:
        best_loss = validation_losses[-1]
        best_state = model.state_dict()

model.load_state_dict(best_state)
with torch.no_grad():
    losses = [nn.functional.cross_entropy(model(k, p), n) for k, p, n in validation]
chosen_loss = torch.stack(losses).mean().item()
print("validation losses", [round(v, 3) for v in validation_losses], "chosen", chosen_loss)

SILENTLY_WRONG = abs(chosen_loss - min(validation_losses)) > 1e-4
