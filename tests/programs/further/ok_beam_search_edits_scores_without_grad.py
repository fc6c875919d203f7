import torch
import torch.nn as nn

torch.manual_seed(0)
vocab, beams, eos = 8, 3, 1
embed, cell, out = nn.Embedding(vocab, 4), nn.GRUCell(4, 4), nn.Linear(4, vocab)


@torch.no_grad()
def beam_search(h, steps):
    h = h.expand(beams, -1).contiguous()
    ids = torch.zeros(beams, steps + 1, dtype=torch.long)
    total = torch.full((beams, 1), -1e9)
    total[0] = 0.0
    done = torch.zeros(beams, dtype=torch.bool)
    for t in range(steps):
        h = cell(embed(ids[:, t]), h)
        scores = out(h).log_softmax(-1)
        scores[:, 0] = -float("inf")
        scores.scatter_add_(1, ids[:, : t + 1], torch.full((beams, t + 1), -0.5))
        scores[done] = -float("inf")
        scores[done, eos] = 0.0
        scores += total
        total, flat = scores.flatten().topk(beams)
        parent, token = flat // vocab, flat % vocab
        ids, h, done = ids[parent], h[parent], done[parent]
        ids[:, t + 1] = token
        done |= token == eos
        total.unsqueeze_(1)
    return ids[0]


x = torch.randn(1, 4)
loss = nn.functional.cross_entropy(out(cell(embed(torch.tensor([0])), x)), torch.tensor([2]))
loss.backward()
best = beam_search(x, 4)
