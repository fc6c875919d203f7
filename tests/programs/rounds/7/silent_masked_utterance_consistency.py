import torch
import torch.nn as nn


class FrameMasking:
    def __init__(self, longest, seed):
        self.longest = longest
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, spec):
        frames = spec.shape[-1]
        width = int(torch.randint(2, self.longest, (1,), generator=self.generator))
        start = int(torch.randint(0, frames - width, (1,), generator=self.generator))
        spec[..., start:start + width] = 0.0
        return spec


class SpeechEncoder(nn.Module):
    def __init__(self, bins, width):
        super().__init__()
        self.rnn = nn.GRU(bins, width, batch_first=True)

    def forward(self, spec):
        return self.rnn(spec.transpose(1, 2))[0].mean(dim=1)


@torch.no_grad()
def consistency(encoder, utterances, mask):
    total = 0.0
    for spec in utterances:
        augmented = encoder(mask(spec))
        clean = encoder(spec)
        total += (augmented - clean).pow(2).mean().item()
    return total / len(utterances)


def corpus():
    generator = torch.Generator().manual_seed(77)
    return [torch.rand(2, 10, 30, generator=generator) + 0.5 for _ in range(5)]


torch.manual_seed(0)
encoder = SpeechEncoder(10, 8)
score = consistency(encoder, corpus(), FrameMasking(12, seed=4))

mask, total = FrameMasking(12, seed=4), 0.0
with torch.no_grad():
    for spec in corpus():
        kept = mask(torch.ones(1, 1, 30))
        total += (encoder(spec * kept) - encoder(spec)).pow(2).mean().item()
SILENTLY_WRONG = abs(score - total / 5) > 1e-6
