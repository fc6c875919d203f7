import copy

import torch
from torch import nn


class KilnPilot:
    """Learns the draught of a kiln; the goals come from a slower net that is refreshed every `period` steps."""

    def __init__(self, period, rate):
        self.values = nn.Sequential(nn.Linear(2, 14), nn.Tanh(), nn.Linear(14, 3))
        self.goals = copy.deepcopy(self.values).requires_grad_(False)
        self.rate = rate
        self.period = period
        self.steps = 0

    def learn(self, state, draught, reward, after):
        goal = reward + 0.8 * self.goals(after).amax(dim=1)
        guess = self.values(state).gather(1, draught[:, None]).squeeze(1)
        loss = (guess - goal).square().mean()
        self.values.zero_grad()
        loss.backward()
        with torch.no_grad():
            for weight in self.values.parameters():
                weight -= self.rate * weight.grad
        self.steps += 1
        if self.steps % self.period == 0:
            self.goals.load_state_dict(self.values.state_dict())
        return loss.item()


torch.manual_seed(4)
pilot = KilnPilot(period=8, rate=0.05)
twin = copy.deepcopy(pilot.values)
held = [p.detach().tolist() for p in twin.parameters()]
days = []
for _ in range(36):
    state = torch.randn(20, 2)
    draught = torch.randint(0, 3, (20,))
    days.append((state, draught, 1 - state[:, 0].abs(), 0.7 * state + 0.1 * draught[:, None]))
for day in days:
    loss = pilot.learn(*day)
print("last loss", round(loss, 4))

for number, (state, draught, reward, after) in enumerate(days, start=1):
    a, b, c, d = (torch.tensor(p) for p in held)
    goal = reward + 0.8 * (torch.tanh(after @ a.T + b) @ c.T + d).amax(dim=1)
    error = (twin(state)[torch.arange(20), draught] - goal).square().mean()
    own = list(twin.parameters())
    moved = [p.detach() - 0.05 * s for p, s in zip(own, torch.autograd.grad(error, own))]
    nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(moved), own)
    if number % 8 == 0:
        held = [p.detach().tolist() for p in twin.parameters()]
SILENTLY_WRONG = not torch.allclose(pilot.values(state), twin(state), atol=1e-3)
