import torch
from torch import nn


class QTable(nn.Module):
    def __init__(self, floors, actions):
        super().__init__()
        self.table = nn.Embedding(floors, actions)
        nn.init.zeros_(self.table.weight)

    def forward(self, floor):
        return self.table(floor)


class Agent:
    UPDATE_FREQ = 25

    def __init__(self, floors, gamma=0.8, lr=0.25):
        self.online = QTable(floors, 3)
        self.target = QTable(floors, 3)
        self.update_target_network()
        self.optimizer = torch.optim.SGD(self.online.parameters(), lr=lr)
        self.gamma = gamma
        self.steps = 0

    def update_target_network(self):
        self.target.load_state_dict(self.online.state_dict())

    def learn(self, floor, action, reward, after):
        with torch.no_grad():
            wanted = reward + self.gamma * self.target(after).max(dim=1).values
        q = self.online(floor).gather(1, action[:, None]).squeeze(1)
        loss = (q - wanted).square().sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        if self.steps % self.UPDATE_FREQ == 0:
            self.update_target_network()


def moves(floors, calls):
    floor = torch.arange(floors).repeat_interleave(3)
    action = torch.arange(3).repeat(floors)
    after = (floor + action - 1).clamp(0, floors - 1)
    return floor, action, calls[after] - 0.1 * (action != 1), after


calls = torch.tensor([0.2, 0.0, 0.1, 0.0, 1.0, 0.3])
agent = Agent(floors=6)
batch = moves(6, calls)
for step in range(900):
    agent.learn(*batch)
q = agent.online.table.weight.detach()
print("best moves", (q.argmax(dim=1) - 1).tolist())

value = torch.zeros(6)
for sweep in range(200):
    value = (batch[2] + 0.8 * value[batch[3]]).view(6, 3).amax(dim=1)
SILENTLY_WRONG = not torch.allclose(q.amax(dim=1), value, atol=5e-3)
