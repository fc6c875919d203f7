import torch
from torch import nn

LANES, CARS, EGO = 0, 1, 2


def lane_cost(images, width):
    """Paint under the own car, weighted towards its middle."""
    mask = torch.linspace(-1, 1, width).abs().neg().add(1)
    return (images[:, :, LANES] * mask).amax(dim=(-1, -2))


def proximity_cost(images, width):
    mask = torch.linspace(-1, 1, width).square().neg().add(1)
    return (images[:, :, CARS] * mask).mean(dim=(-1, -2))


class Policy(nn.Module):
    def __init__(self, ncond, height, width):
        super().__init__()
        self.head = nn.Linear(ncond * 3 * height * width, 2)

    def forward(self, images):
        """Lanes hidden below a car do not count for the driver."""
        hidden = images[:, :, CARS] > 0.6
        lanes = images[:, :, LANES]
        lanes[hidden] = 0.0
        return torch.tanh(self.head(images.flatten(1)))


def evaluate(policy, batches, width, lambda_l=0.5):
    actions, costs = [], []
    for images in batches:
        actions.append(policy(images))
        cost = proximity_cost(images, width) + lambda_l * lane_cost(images, width)
        costs.append(cost.mean())
    return torch.cat(actions), torch.stack(costs)


torch.manual_seed(17)
ncond, height, width = 3, 6, 8
policy = Policy(ncond, height, width)
frames = torch.rand(12, ncond, 3, height, width)
batches = [frames[k:k + 4].clone() for k in range(0, 12, 4)]
with torch.no_grad():
    actions, costs = evaluate(policy, batches, width)
print("costs", costs.tolist())

ramp = torch.linspace(-1, 1, width)
near = (frames[:, :, CARS] * (1 - ramp ** 2)).mean(dim=(-1, -2))
paint = (frames[:, :, LANES] * (1 - ramp.abs())).amax(dim=(-1, -2))
expected = (near + 0.5 * paint).mean(dim=1).view(3, 4).mean(dim=1)
SILENTLY_WRONG = not torch.allclose(costs, expected, atol=1e-5)
