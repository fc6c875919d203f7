import torch
from torch import nn


class DelayModel(nn.Module):
    def __init__(self, stops):
        super().__init__()
        self.stops = nn.Embedding(stops, 1)
        nn.init.zeros_(self.stops.weight)

    def forward(self, rides):
        return self.stops(rides).sum(dim=(1, 2))


def add_stops(model, optimizer, more):
    old = model.stops.weight
    grown = nn.Parameter(torch.cat([old.detach(), torch.zeros(more, 1)]))
    for group in optimizer.param_groups:
        group["params"] = [grown if p is old else p for p in group["params"]]
    state = optimizer.state.pop(old)
    state["momentum_buffer"] = torch.cat([state["momentum_buffer"], torch.zeros(more, 1)])
    optimizer.state[grown] = state
    model.stops.weight = grown
    model.stops.num_embeddings += more


def fit(model, optimizer, rides, delays, rounds):
    for _ in range(rounds):
        optimizer.zero_grad()
        (model(rides) - delays).square().mean().backward()
        optimizer.step()


torch.manual_seed(11)
truth = torch.tensor([1.0, 0.2, 2.5, 0.7, 1.4, 3.0])
early, late = torch.randint(0, 4, (50, 3)), torch.randint(0, 6, (50, 3))
model = DelayModel(stops=4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.7)
fit(model, optimizer, early, truth[early].sum(dim=1), rounds=15)
add_stops(model, optimizer, more=2)
fit(model, optimizer, late, truth[late].sum(dim=1), rounds=15)
print("delays", [round(d, 3) for d in model.stops.weight.squeeze(1).tolist()])

guess, speed = torch.zeros(6), torch.zeros(6)
for rides in [early] * 15 + [late] * 15:
    counts = torch.nn.functional.one_hot(rides, 6).sum(dim=1).float()
    slope = 2 * counts.T @ (counts @ (guess - truth)) / 50
    speed = 0.7 * speed + slope
    guess = guess - 0.1 * speed
SILENTLY_WRONG = not torch.allclose(model.stops.weight.squeeze(1), guess, atol=1e-3)
