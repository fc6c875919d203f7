from copy import deepcopy

import torch
from torch import nn


class MomentumPair(nn.Module):
    def __init__(self, encoder_q, m=0.9):
        super().__init__()
        self.encoder_q = encoder_q
        self.encoder_k = deepcopy(encoder_q).requires_grad_(False)
        self.m = m

    @torch.no_grad()
    def _momentum_update_key_encoder(self):
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data = param_k.data * self.m + param_q.data * (1.0 - self.m)
        for buffer_q, buffer_k in zip(self.encoder_q.buffers(), self.encoder_k.buffers()):
            buffer_k.copy_(buffer_q)

    def forward(self, im_q, im_k):
        q = nn.functional.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self.encoder_k.eval()
            k = nn.functional.normalize(self.encoder_k(im_k), dim=1)
        return (q @ k.T / 0.2).log_softmax(dim=1).diagonal().neg().mean()


torch.manual_seed(70)
encoder = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 5))
pair = MomentumPair(encoder)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.2)
scenes = 2.0 + torch.randn(15, 12, 6)
weights = [encoder[1].weight.detach().clone()]
for im in scenes:
    loss = pair(im, im + 0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    pair._momentum_update_key_encoder()
    weights.append(encoder[1].weight.detach().clone())
print("loss", loss.item())

weight = weights[0]
for w in weights[1:]:
    weight = 0.9 * weight + 0.1 * w
mean = torch.zeros(6)
for im in scenes:
    mean = 0.9 * mean + 0.1 * im.mean(dim=0)
key = pair.encoder_k
SILENTLY_WRONG = not (torch.allclose(key[1].weight, weight, atol=1e-5) and torch.allclose(key[0].running_mean, mean, atol=1e-5))
