import torch
from torch import nn

torch.manual_seed(0)


class Captioner(nn.Module):
    def __init__(self, vocab=20, dim=8, max_len=10):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Parameter(torch.randn(max_len, dim) * 0.1)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids=None, inputs_embeds=None):
        if inputs_embeds is None:
            embeds = self.tokens(ids)
        else:
            embeds = inputs_embeds.clone()
        embeds += self.positions[: embeds.shape[1]]
        embeds[:, 0] *= 2.0
        return self.head(torch.tanh(embeds).mean(1))


model = Captioner()
ids = torch.randint(0, 20, (3, 5))
prefix = torch.randn(3, 4, 8)
text = model(ids=ids)
image = model(inputs_embeds=prefix)
again = model(inputs_embeds=prefix)
(text.sum() + image.square().sum() + again.sum()).backward()

weight = torch.ones(4, 1)
weight[0] = 2.0
pooled = torch.tanh((prefix + model.positions[:4]) * weight).mean(1)
expected = model.head(pooled)
SILENTLY_WRONG = not (torch.equal(image, again) and torch.allclose(image, expected, atol=1e-6))
