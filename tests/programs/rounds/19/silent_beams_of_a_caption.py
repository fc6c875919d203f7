import torch
import torch.nn as nn


class Captioner(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.cell = nn.GRUCell(width, width)
        self.out = nn.Linear(width, words)

    def forward(self, word, hidden):
        hidden = self.cell(self.embed(word), hidden)
        return self.out(hidden).log_softmax(dim=1), hidden


class BeamState:
    def __init__(self, picture, beams, length):
        self.hidden = picture.repeat(beams, 1)
        self.words = torch.zeros(beams, length, dtype=torch.long)
        self.scores = torch.full((beams,), -torch.inf, dtype=picture.dtype)
        self.scores[0] = 0.0

    def reorder(self, parents):
        for beam, parent in enumerate(parents.tolist()):
            if beam != parent:
                self.hidden[beam] = self.hidden[parent]
                self.words[beam] = self.words[parent]


@torch.no_grad()
def describe(model, picture, beams=4, length=6):
    state = BeamState(picture, beams, length + 1)
    for step in range(length):
        logs, state.hidden = model(state.words[:, step], state.hidden)
        total = state.scores.unsqueeze(1) + logs
        state.scores, flat = total.view(-1).topk(beams)
        parents, words = flat // logs.shape[1], flat % logs.shape[1]
        state.reorder(parents)
        state.words[:, step + 1] = words
    return state.words, state.scores


def score_again(model, picture, words):
    hidden, total = picture.unsqueeze(0), 0.0
    with torch.no_grad():
        for before, after in zip(words[:-1], words[1:]):
            logs, hidden = model(before.unsqueeze(0), hidden)
            total += logs[0, after].item()
    return total


torch.manual_seed(1916)
model = Captioner(words=12, width=8).double()
with torch.no_grad():
    for p in model.parameters():
        p.mul_(2.5)
pictures = torch.randn(5, 8).double()
claimed, real = [], []
for picture in pictures:
    words, scores = describe(model, picture)
    claimed.append(scores)
    real.append(torch.tensor([score_again(model, picture, w) for w in words], dtype=torch.float64))
SILENTLY_WRONG = not torch.allclose(torch.stack(claimed), torch.stack(real))
