import copy

import torch
from torch import nn

torch.manual_seed(0)


class Step(nn.Module):
    def __init__(self, dim=6, vocab=9):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, token, cache, bias):
        state = self.embed(token)
        cache["values"][cache["length"]] = state
        cache["length"] += 1
        return self.head(cache["values"][: cache["length"]].mean(0)) + bias


def prefill(model, prompt, bias):
    cache = {"values": torch.zeros(16, 6), "length": 0}
    for token in prompt:
        logits = model(token, cache, bias)
    return cache, logits


@torch.no_grad()
def guided(model, prompt, bias, steps=4, scale=1.5):
    cache, logits = prefill(model, prompt, bias)
    weak = {"cache": copy.deepcopy(cache), "bias": bias}
    token, out = logits.argmax(), []
    for _ in range(steps):
        strong_logits = model(token, cache, bias)
        weak_logits = model((token + 1) % 9, **weak)
        out.append(weak_logits + scale * (strong_logits - weak_logits))
        token = out[-1].argmax()
    return torch.stack(out)


model, prompt, bias = Step(), torch.tensor([1, 4, 2]), torch.randn(9)
logits = guided(model, prompt, bias)

with torch.no_grad():
    start = [model.embed(t) for t in prompt]
    strong, weak, expected = list(start), list(start), []
    token = (model.head(torch.stack(start).mean(0)) + bias).argmax()
    for _ in range(4):
        strong.append(model.embed(token))
        weak.append(model.embed((token + 1) % 9))
        s, w = (model.head(torch.stack(branch).mean(0)) + bias for branch in (strong, weak))
        expected.append(w + 1.5 * (s - w))
        token = expected[-1].argmax()
SILENTLY_WRONG = not torch.allclose(logits, torch.stack(expected), atol=1e-5)
