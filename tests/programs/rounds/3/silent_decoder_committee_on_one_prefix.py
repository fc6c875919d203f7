import torch
from torch import nn

torch.manual_seed(0)


class PrefixDecoder(nn.Module):
    def __init__(self, dim=16, vocab=30, max_len=12):
        super().__init__()
        self.positions = nn.Embedding(max_len, dim)
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, inputs_embeds):
        length = inputs_embeds.shape[1]
        inputs_embeds += self.positions.weight[:length]
        hidden = self.norm(inputs_embeds)
        context = hidden.cumsum(1) / torch.arange(1, length + 1)[:, None]
        return self.head(torch.tanh(self.mix(context)))


@torch.no_grad()
def committee_logits(decoders, prefix):
    total = 0
    for decoder in decoders:
        total = total + decoder(prefix)[:, -1]
    return total / len(decoders)


def image_prefix(seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 6, 16, generator=generator)


decoders = [PrefixDecoder().eval() for _ in range(3)]
logits = committee_logits(decoders, image_prefix(7))

with torch.no_grad():
    expected = torch.stack([d(image_prefix(7))[:, -1] for d in decoders]).mean(0)
SILENTLY_WRONG = not torch.allclose(logits, expected, atol=1e-5)
