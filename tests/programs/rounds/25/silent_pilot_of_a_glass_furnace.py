import copy

import torch
from torch import nn


class FurnacePilot:
    """Learns how much gas to give; the goals come from a second net that is refreshed every `period` steps."""

    def __init__(self, period):
        self.values = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 4))
        self.goals = copy.deepcopy(self.values)
        self.optimizer = torch.optim.SGD(self.values.parameters(), lr=0.05)
        self.period = period
        self.steps = 0

    def refresh(self):
        self.goals.load_state_dict(self.values.state_dict())
        self.goals = self.values

    def learn(self, state, gas, reward, after):
        with torch.no_grad():
            goal = reward + 0.9 * self.goals(after).max(dim=1).values
        guess = self.values(state).gather(1, gas[:, None]).squeeze(1)
        loss = nn.functional.mse_loss(guess, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        if self.steps % self.period == 0:
            self.refresh()
        return loss.item()


torch.manual_seed(3)
pilot = FurnacePilot(period=10)
twin, held = copy.deepcopy(pilot.values), copy.deepcopy(pilot.values)
days = []
for _ in range(45):
    state = torch.randn(24, 3)
    gas = torch.randint(0, 4, (24,))
    heat = state[:, 0] + 0.3 * gas
    days.append((state, gas, 1.0 - heat.abs(), 0.8 * state + 0.2 * heat[:, None]))
for day in days:
    loss = pilot.learn(*day)
print("last loss", round(loss, 4))

for number, (state, gas, reward, after) in enumerate(days, start=1):
    goal = reward + 0.9 * held(after).detach().amax(dim=1)
    error = (twin(state)[torch.arange(24), gas] - goal).square().mean()
    slopes = torch.autograd.grad(error, list(twin.parameters()))
    with torch.no_grad():
        for weight, slope in zip(twin.parameters(), slopes):
            weight -= 0.05 * slope
    if number % 10 == 0:
        held = copy.deepcopy(twin)
probe = torch.linspace(-1, 1, 15).reshape(5, 3)
SILENTLY_WRONG = not torch.allclose(pilot.values(probe), twin(probe), atol=1e-3)
