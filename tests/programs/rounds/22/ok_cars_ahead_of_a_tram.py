import torch
from torch import nn

RAILS, CARS, OWN = 0, 1, 2


def rail_cost(images):
    return images[:, -1, RAILS].amax(dim=(-1, -2))


class Policy(nn.Module):
    def __init__(self, ncond, height, width):
        super().__init__()
        self.head = nn.Linear(ncond * 3 * height * width, 2)

    def forward(self, images, own):
        """Adds the tram's own outline to the pictures and hides what lies below it."""
        own = own[:, None, None].expand(-1, images.shape[1], 1, -1, -1)
        images = torch.cat([images, own], dim=2)
        images[:, :, CARS] *= 1 - images[:, :, OWN]
        images[:, :, RAILS].masked_fill_(images[:, :, CARS] > 0.7, 0.0)
        return torch.tanh(self.head(images.flatten(1)))


def rollout(policy, images, own, steps):
    actions, costs = [], []
    for t in range(steps):
        action = policy(images, own)
        following = images[:, -1:] * (1 - 0.1 * action[:, :1, None, None, None].abs())
        images = torch.cat([images[:, 1:], following], dim=1)
        actions.append(action)
        costs.append(rail_cost(images))
    return torch.stack(actions), torch.stack(costs)


torch.manual_seed(18)
policy = Policy(ncond=2, height=4, width=5)
images = torch.rand(3, 2, 2, 4, 5)
own = (torch.rand(3, 4, 5) > 0.7).float()
with torch.no_grad():
    actions, costs = rollout(policy, images, own, steps=4)
print("costs", costs.mean(dim=1).tolist())

expected = []
frames = [images[:, 0], images[:, 1]]
with torch.no_grad():
    for t in range(4):
        seen = []
        for frame in frames[-2:]:
            cars = frame[:, 1] * (1 - own)
            rails = torch.where(cars > 0.7, torch.zeros(()), frame[:, 0])
            seen.append(torch.stack([rails, cars, own], dim=1))
        action = torch.tanh(policy.head(torch.stack(seen, dim=1).flatten(1)))
        frames.append(frames[-1] * (1 - 0.1 * action[:, 0].abs())[:, None, None, None])
        expected.append(frames[-1][:, 0].flatten(1).amax(dim=1))
SILENTLY_WRONG = not torch.allclose(costs, torch.stack(expected), atol=1e-5)
