import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def juggle(policy, throws):
    height, speed, score = torch.tensor(1.0), torch.tensor(0.0), 0.0
    for gust in throws:
        push = torch.tanh(policy(torch.stack([height, speed, gust]))).squeeze()
        speed = 0.9 * speed + 0.3 * push - 0.1 * height + 0.1 * gust
        height = height + 0.2 * speed
        score = score - (height - 0.5).square()
    return score


@torch.no_grad()
def search_direction(policy, throws, noises, scale):
    vector = parameters_to_vector(policy.parameters())
    vector_to_parameters(vector, policy.parameters())
    direction = torch.zeros_like(vector)
    for noise in noises:
        vector.add_(noise, alpha=scale)
        above = juggle(policy, throws)
        vector.sub_(noise, alpha=2 * scale)
        below = juggle(policy, throws)
        vector.add_(noise, alpha=scale)
        direction.add_((above - below) * noise)
    return direction / (2 * scale * len(noises))


torch.manual_seed(201)
policy = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
throws = torch.randn(12)
start = parameters_to_vector(policy.parameters()).detach().clone()
noises = torch.randn(10, len(start))
direction = search_direction(policy, throws, noises, scale=0.1)

shapes = [value.shape for value in policy.parameters()]
names = [name for name, _ in policy.named_parameters()]
expected = torch.zeros_like(start)
for noise in noises:
    scores = []
    for sign in (0.1, -0.1):
        pieces = (start + sign * noise).split([shape.numel() for shape in shapes])
        state = {name: piece.view(shape) for name, piece, shape in zip(names, pieces, shapes)}
        scores.append(juggle(lambda x: torch.func.functional_call(policy, state, x), throws))
    expected += ((scores[0] - scores[1]) * noise / (0.2 * len(noises))).detach()
SILENTLY_WRONG = not torch.allclose(direction, expected, atol=1e-3)
