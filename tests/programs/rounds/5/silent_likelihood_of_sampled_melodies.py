import torch
from torch import nn


class MelodyModel(nn.Module):
    def __init__(self, notes=12, dim=8):
        super().__init__()
        self.table = nn.Embedding(notes, dim)
        self.out = nn.Linear(dim, notes)

    def forward(self, note):
        return torch.log_softmax(3 * self.out(self.table(note)), dim=-1)


@torch.no_grad()
def sample_top_k(model, start, length, k):
    note = start
    score = torch.zeros(len(start))
    melody = [start]
    for _ in range(length):
        lprobs, candidates = model(note).topk(k)
        probs = lprobs.exp_()
        pick = torch.multinomial(probs, num_samples=1)
        score += lprobs.gather(1, pick).squeeze(1)
        note = candidates.gather(1, pick).squeeze(1)
        melody.append(note)
    return torch.stack(melody, dim=1), score


torch.manual_seed(16)
model = MelodyModel()
melodies, score = sample_top_k(model, torch.arange(12), length=9, k=4)

with torch.no_grad():
    transition = torch.log_softmax(3 * model.out(model.table.weight), dim=-1)
expected = torch.stack([transition[m[:-1], m[1:]].sum() for m in melodies])
SILENTLY_WRONG = not torch.allclose(score, expected, atol=1e-4)
