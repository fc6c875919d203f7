import torch
from torch import nn

torch.manual_seed(0)


def empty_cache(dim, slots=32):
    return {"keys": torch.zeros(slots, dim), "used": torch.zeros((), dtype=torch.long)}


class TinyLM(nn.Module):
    def __init__(self, vocab=11, dim=8):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, token, cache, evidence=None):
        state = self.tokens(token)
        if evidence is not None:
            state = state + evidence
        cache["keys"][cache["used"]] = state
        cache["used"] += 1
        keys = cache["keys"][: cache["used"]]
        attention = torch.softmax(keys @ state, dim=0)
        return self.head(attention @ keys)


@torch.no_grad()
def generate(model, start, evidence, steps=6, alpha=1.0):
    model_kwargs = {"cache": empty_cache(8), "evidence": evidence}
    contrast_kwargs = model_kwargs.copy()
    contrast_kwargs["evidence"] = None
    token, trace = start, []
    for _ in range(steps):
        logits = model(token, **model_kwargs)
        logits = (1 + alpha) * logits - alpha * model(token, **contrast_kwargs)
        trace.append(logits)
        token = logits.argmax()
    return torch.stack(trace)


model, evidence, start = TinyLM(), torch.randn(8), torch.tensor(3)
trace = generate(model, start, evidence)

with torch.no_grad():
    with_evidence, without, token, expected = empty_cache(8), empty_cache(8), start, []
    for _ in range(6):
        logits = 2 * model(token, with_evidence, evidence) - model(token, without)
        expected.append(logits)
        token = logits.argmax()
SILENTLY_WRONG = not torch.allclose(trace, torch.stack(expected), atol=1e-5)
