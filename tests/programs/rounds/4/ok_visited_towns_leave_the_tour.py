import torch
import torch.nn as nn


class TourDecoder(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.embed = nn.Linear(2, width)
        self.query = nn.Linear(width, width)

    def forward(self, towns):
        keys = self.embed(towns)
        visited = torch.zeros(towns.shape[:2], dtype=torch.bool)
        current = keys.mean(dim=1)
        tour, log_likelihood = [], 0.0
        for _ in range(towns.size(1)):
            scores = (keys @ self.query(current).unsqueeze(-1)).squeeze(-1)
            scores.masked_fill_(visited, float("-inf"))
            chances = scores.log_softmax(dim=1)
            best, choice = chances.max(dim=1)
            visited.scatter_(1, choice.unsqueeze(1), True)
            log_likelihood = log_likelihood + best
            current = keys[torch.arange(len(keys)), choice]
            tour.append(choice)
        return torch.stack(tour, dim=1), log_likelihood


torch.manual_seed(36)
decoder = TourDecoder()
towns = torch.rand(3, 6, 2)
tours, log_likelihood = decoder(towns)

expected = []
for row, tour in zip(towns, tours.tolist()):
    keys = decoder.embed(row)
    current, left, total = keys.mean(dim=0), list(range(6)), 0.0
    for town in tour:
        logits = keys[left] @ decoder.query(current)
        total = total + torch.log_softmax(logits, dim=0)[left.index(town)]
        current = keys[town]
        left.remove(town)
    expected.append(total)
complete = all(sorted(t) == list(range(6)) for t in tours.tolist())
SILENTLY_WRONG = not (complete and torch.allclose(log_likelihood, torch.stack(expected), atol=1e-5))
