import torch
import torch.nn as nn


class PlaylistModel(nn.Module):
    def __init__(self, songs, width):
        super().__init__()
        self.songs = nn.Embedding(songs, width, max_norm=1.0)
        self.query = nn.Linear(width, width, bias=False)

    def forward(self, history, candidate):
        context = self.songs(history).mean(dim=1)
        return (self.query(context) * self.songs(candidate)).sum(dim=1)


def project(table, used):
    rows = table[used]
    length = rows.norm(dim=1, keepdim=True)
    table = table.clone()
    table[used] = torch.where(length > 1, rows / (length + 1e-7), rows)
    return table


torch.manual_seed(46)
model = PlaylistModel(30, 5)
table, query = model.songs.weight.detach().clone(), model.query.weight.detach().clone()
history, candidate = torch.randint(0, 20, (16, 4)), torch.randint(0, 20, (16,))
label = (torch.rand(16) > 0.5).float()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(6):
    loss = nn.functional.binary_cross_entropy_with_logits(model(history, candidate), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

used = torch.cat([history.flatten(), candidate]).unique()
for _ in range(6):
    table, query = project(table, used).requires_grad_(), query.requires_grad_()
    score = ((table[history].mean(dim=1) @ query.T) * table[candidate]).sum(dim=1)
    loss = nn.functional.binary_cross_entropy_with_logits(score, label)
    steps = torch.autograd.grad(loss, [table, query])
    table, query = (table - 0.5 * steps[0]).detach(), (query - 0.5 * steps[1]).detach()
SILENTLY_WRONG = not (torch.allclose(model.songs.weight, table, atol=1e-5) and torch.allclose(model.query.weight, query, atol=1e-5))
