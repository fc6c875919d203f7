import functools
import torch


@functools.lru_cache
def causal_mask(n):
    return torch.ones(n, n).tril().bool()


def attend(scores, padding):
    mask = causal_mask(len(scores))
    mask[:, padding] = False
    return scores.masked_fill(~mask, -1e9).softmax(-1)


torch.manual_seed(0)
scores = torch.randn(4, 4)
honest = scores.masked_fill(~torch.ones(4, 4).tril().bool(), -1e9)
honest[:, 3] = -1e9
first = attend(scores, 1)
second = attend(scores, 3)
SILENTLY_WRONG = not torch.allclose(second, honest.softmax(-1))
