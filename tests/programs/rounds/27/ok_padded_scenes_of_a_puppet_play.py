import torch
from torch import nn


class SceneReader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)
        self.mood = nn.Linear(width, 3)

    def forward(self, scenes, empty):
        scores = self.score(scenes).squeeze(-1)
        scores.masked_fill_(empty, float("-inf"))
        weights = scores.softmax(dim=1)
        moods = self.mood(scenes)
        moods = moods.masked_fill(empty[:, :, None], 0.0)
        return torch.einsum("bs,bsm->bm", weights, moods)


torch.manual_seed(34)
plays = [torch.randn(n, 5) for n in (4, 2, 6)]
scenes = nn.utils.rnn.pad_sequence(plays, batch_first=True)
empty = torch.ones(3, 6, dtype=torch.bool)
for row, play in zip(empty, plays):
    row[:len(play)] = False
reader = SceneReader(5)
moods = reader(scenes, empty)
moods.square().sum().backward()
print("moods", moods.tolist(), "slope", reader.score.weight.grad.tolist())

copy = [p.detach().clone().requires_grad_() for p in reader.parameters()]
w, b, v, c = copy
expected = torch.stack([torch.softmax(p @ w[0] + b, 0) @ (p @ v.T + c) for p in plays])
slopes = torch.autograd.grad(expected.square().sum(), copy)
SILENTLY_WRONG = not (torch.allclose(moods, expected, atol=1e-5)
                      and torch.allclose(reader.score.weight.grad, slopes[0], atol=1e-4))
