import torch
from torch import nn


class Knots(nn.Module):
    """Next move of the rope from the last one; remembers the rope in a state."""

    def __init__(self, moves, width):
        super().__init__()
        self.embed = nn.Embedding(moves, width)
        self.cell = nn.GRUCell(width, width)
        self.out = nn.Linear(width, moves)

    def forward(self, last, kept):
        kept["rope_state"] = self.cell(self.embed(last), kept.get("rope_state"))
        return 2 * self.out(kept["rope_state"]).log_softmax(dim=1), kept


def reorder(kept, parents):
    if kept.get("past") is not None:
        kept["past"] = kept["past"].index_select(0, parents)
    return kept


@torch.no_grad()
def plan(model, start, beams, length):
    moves = torch.full((beams, 1), start)
    total = torch.tensor([0.0] + [-1e9] * (beams - 1))
    kept = {}
    for _ in range(length):
        scores, kept = model(moves[:, -1], kept)
        total, best = (total[:, None] + scores).flatten().topk(beams)
        parents, chosen = best // scores.shape[1], best % scores.shape[1]
        moves = torch.cat([moves[parents], chosen[:, None]], dim=1)
        kept = reorder(kept, parents)
    return moves, total


torch.manual_seed(13)
model = Knots(moves=7, width=12)
moves, total = plan(model, start=0, beams=4, length=8)
print("best plan", moves[0].tolist(), total[0].item())

again = torch.zeros(len(moves))
with torch.no_grad():
    rope = None
    for t in range(moves.shape[1] - 1):
        rope = model.cell(model.embed(moves[:, t]), rope)
        again += 2 * model.out(rope).log_softmax(dim=1)[torch.arange(len(moves)), moves[:, t + 1]]
SILENTLY_WRONG = not torch.allclose(total, again, atol=1e-3)
