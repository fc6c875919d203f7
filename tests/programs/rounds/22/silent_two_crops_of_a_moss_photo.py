import copy

import torch
import torch.nn.functional as F
from torch import nn


class EMA:
    def __init__(self, beta):
        self.beta = beta

    def update_average(self, old, new):
        return old * self.beta + (1 - self.beta) * new


def update_moving_average(ema_updater, ma_model, current_model):
    for current_params, ma_params in zip(current_model.parameters(), ma_model.parameters()):
        ma_params.data = ema_updater.update_average(ma_params.data, current_params.data)


class Learner(nn.Module):
    def __init__(self, encoder, dim, beta=0.8):
        super().__init__()
        self.online_encoder = encoder
        self.online_predictor = nn.Linear(dim, dim)
        self.target_encoder = copy.deepcopy(encoder).requires_grad_(False).eval()
        self.target_ema_updater = EMA(beta)

    def update(self):
        update_moving_average(self.target_ema_updater, self.target_encoder, self.online_encoder)

    def forward(self, one, two):
        guess = self.online_predictor(self.online_encoder(one))
        wanted = self.target_encoder(two)
        return 2 - 2 * F.cosine_similarity(guess, wanted, dim=-1).mean()


torch.manual_seed(14)
encoder = nn.Sequential(nn.Linear(9, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
learner = Learner(encoder, dim=4)
opt = torch.optim.SGD([p for p in learner.parameters() if p.requires_grad], lr=0.1)
photos = 3.0 + 2.0 * torch.randn(20, 16, 9)
states = [{k: v.clone() for k, v in encoder.state_dict().items()}]
for crop in photos:
    loss = learner(crop + 0.1 * torch.randn_like(crop), crop)
    opt.zero_grad()
    loss.backward()
    opt.step()
    learner.update()
    states.append({k: v.clone() for k, v in encoder.state_dict().items()})
features = learner.target_encoder(photos[0])
print("spread of the features", features.std(dim=0).tolist())

mean = states[0]
for state in states[1:]:
    mean = {k: 0.8 * mean[k] + 0.2 * state[k] for k in mean}
hidden = photos[0] @ mean["0.weight"].T + mean["0.bias"]
hidden = (hidden - mean["1.running_mean"]) / (mean["1.running_var"] + 1e-5).sqrt() * mean["1.weight"] + mean["1.bias"]
expected = hidden.relu() @ mean["3.weight"].T + mean["3.bias"]
SILENTLY_WRONG = not torch.allclose(features, expected, atol=1e-3)
