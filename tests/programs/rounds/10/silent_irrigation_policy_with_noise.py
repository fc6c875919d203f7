import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def water_balance(policy, weather, soil=0.5):
    score = 0.0
    for rain, heat in weather:
        state = torch.stack([rain, heat, torch.as_tensor(soil)])
        water = torch.sigmoid(policy(state)).squeeze()
        soil = (soil + 0.3 * rain + 0.4 * water - 0.35 * heat).clamp(0, 1)
        score = score - (soil - 0.6).square() - 0.05 * water
    return score


@torch.no_grad()
def search_direction(policy, weather, noises, scale):
    vector = parameters_to_vector(policy.parameters())
    direction = torch.zeros_like(vector)
    for noise in noises:
        vector.add_(noise, alpha=scale)
        above = water_balance(policy, weather)
        vector.sub_(noise, alpha=2 * scale)
        below = water_balance(policy, weather)
        vector.add_(noise, alpha=scale)
        direction.add_((above - below) * noise)
    return direction / (2 * scale * len(noises))


torch.manual_seed(101)
policy = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
weather = torch.rand(15, 2)
start = parameters_to_vector(policy.parameters()).detach().clone()
noises = torch.randn(12, len(start))
direction = search_direction(policy, weather, noises, scale=0.1)

expected = torch.zeros_like(start)
with torch.no_grad():
    for noise in noises:
        scores = []
        for sign in (0.1, -0.1):
            vector_to_parameters(start + sign * noise, policy.parameters())
            scores.append(water_balance(policy, weather))
        expected += (scores[0] - scores[1]) * noise / (0.2 * len(noises))
SILENTLY_WRONG = not torch.allclose(direction, expected, atol=1e-4)
