import torch
from torch import nn
from torch.nn.functional import softplus


def require(part, wanted):
    for p in part.parameters():
        p.requires_grad_(wanted)


class DuneGame:
    def __init__(self, maker, critic, rate):
        self.maker, self.critic = maker, critic
        self.maker_step = torch.optim.SGD(maker.parameters(), lr=rate)
        self.critic_step = torch.optim.SGD(critic.parameters(), lr=rate)

    def round(self, dunes, noise):
        require(self.critic, True)
        for _ in range(2):
            self.critic_step.zero_grad()
            made = self.maker(noise).detach()
            loss = softplus(-self.critic(dunes)).mean() + softplus(self.critic(made)).mean()
            loss.backward()
            self.critic_step.step()
        require(self.critic, False)
        self.maker_step.zero_grad()
        softplus(-self.critic(self.maker(noise))).mean().backward()
        self.maker_step.step()


torch.manual_seed(15)
maker, critic = nn.Linear(2, 4), nn.Linear(4, 1)
g = [p.detach().clone() for p in maker.parameters()]
d = [p.detach().clone() for p in critic.parameters()]
rounds = [(2 + 0.5 * torch.randn(20, 4), torch.randn(20, 2)) for _ in range(12)]
game = DuneGame(maker, critic, rate=0.1)
for dunes, noise in rounds:
    game.round(dunes, noise)
print("mean dune", maker(rounds[0][1]).mean().item())

for dunes, noise in rounds:
    for _ in range(2):
        made = noise @ g[0].T + g[1]
        up = -torch.sigmoid(-(dunes @ d[0].T + d[1])) / 20
        down = torch.sigmoid(made @ d[0].T + d[1]) / 20
        slopes = up.T @ dunes + down.T @ made, (up + down).sum(dim=0)
        d = [w - 0.1 * s for w, s in zip(d, slopes)]
    made = noise @ g[0].T + g[1]
    pull = -torch.sigmoid(-(made @ d[0].T + d[1])) / 20 * d[0]
    g = [g[0] - 0.1 * pull.T @ noise, g[1] - 0.1 * pull.sum(dim=0)]
SILENTLY_WRONG = not (torch.allclose(critic.weight, d[0], atol=1e-4)
                      and torch.allclose(maker.weight, g[0], atol=1e-4))
