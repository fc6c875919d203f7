import torch
from torch import nn

torch.manual_seed(0)


class TiedLM(nn.Module):
    def __init__(self, vocab, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.decoder = nn.Linear(dim, vocab, bias=False)
        self.decoder.weight = self.embed.weight

    @torch.no_grad()
    def grow(self, extra):
        old = self.embed.weight
        table = nn.Embedding(len(old) + extra, old.shape[1])
        table.weight[: len(old)] = old
        nn.init.normal_(table.weight[len(old):], mean=0.0, std=0.02)
        table.weight[len(old):] += old.mean(0)
        self.embed = table
        self.decoder = nn.Linear(old.shape[1], len(old) + extra, bias=False)
        self.decoder.weight = self.embed.weight

    def forward(self, ids):
        return self.decoder(torch.tanh(self.embed(ids)))


model = TiedLM(12)
ids = torch.randint(0, 12, (2, 6))
expected = model(ids).detach()
model.grow(3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
grown = model(ids)
kept = torch.allclose(grown[..., :12].detach(), expected, atol=1e-6)
nn.functional.cross_entropy(grown.flatten(0, 1), ids.flatten()).backward()
before = model.embed.weight.detach().clone()
optimizer.step()
moved = not torch.equal(model.decoder.weight, before)
SILENTLY_WRONG = not (kept and moved and model.decoder.weight is model.embed.weight)
