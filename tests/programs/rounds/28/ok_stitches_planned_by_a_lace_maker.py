import torch
from torch import nn


def reorder(kept, parents):
    for name, value in kept.items():
        kept[name] = value.index_select(0, parents)
    return kept


@torch.no_grad()
def plan(embed, cell, out, beams, length):
    stitches = torch.zeros(beams, 1, dtype=torch.long)
    total = torch.full((beams,), -1e9)
    total[0] = 0.0
    kept = {"thread_state": torch.zeros(beams, cell.hidden_size)}
    for _ in range(length):
        kept["thread_state"] = cell(embed(stitches[:, -1]), kept["thread_state"])
        scores = 2 * out(kept["thread_state"]).log_softmax(dim=1)
        total, best = (total[:, None] + scores).flatten().topk(beams)
        parents, chosen = best // scores.shape[1], best % scores.shape[1]
        stitches = torch.cat([stitches[parents], chosen[:, None]], dim=1)
        kept = reorder(kept, parents)
    return stitches, total


torch.manual_seed(45)
embed, cell, out = nn.Embedding(6, 10), nn.GRUCell(10, 10), nn.Linear(10, 6)
stitches, total = plan(embed, cell, out, beams=3, length=7)
print("best row", stitches[0].tolist())

again, thread = torch.zeros(3), torch.zeros(3, 10)
with torch.no_grad():
    for t in range(7):
        thread = cell(embed(stitches[:, t]), thread)
        again += 2 * out(thread).log_softmax(dim=1)[torch.arange(3), stitches[:, t + 1]]
SILENTLY_WRONG = not torch.allclose(total, again, atol=1e-3)
