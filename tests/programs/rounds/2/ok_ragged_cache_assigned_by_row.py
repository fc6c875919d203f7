import torch
from dataclasses import dataclass


@dataclass
class RaggedCache:
    keys: torch.Tensor
    values: torch.Tensor
    lengths: torch.Tensor

    @classmethod
    def allocate(cls, batch, capacity, dim):
        return cls(torch.zeros(batch, capacity, dim), torch.zeros(batch, capacity, dim),
                   torch.zeros(batch, dtype=torch.long))

    def prefill(self, row, k, v):
        self.keys[row].narrow(0, 0, len(k)).copy_(k)
        self.values[row][:len(v)] = v
        self.lengths[row] = len(k)

    def append(self, k, v):
        rows = torch.arange(len(k))
        self.keys[rows, self.lengths] = k
        self.values.index_put_((rows, self.lengths), v)
        self.lengths += 1

    def attend(self, q):
        valid = torch.arange(self.keys.shape[1]) < self.lengths[:, None]
        scores = torch.einsum("bd,btd->bt", q, self.keys)
        scores.masked_fill_(~valid, float("-inf"))
        return torch.einsum("bt,btd->bd", scores.softmax(-1), self.values)


torch.manual_seed(0)
prompts = [torch.randn(2, n, 4) for n in (3, 5)]
cache = RaggedCache.allocate(batch=2, capacity=8, dim=4)
for row, (k, v) in enumerate(prompts):
    cache.prefill(row, k, v)
steps = torch.randn(2, 2, 2, 4)
for k, v in steps:
    cache.append(k, v)
q = torch.randn(2, 4)
out = cache.attend(q)

expected = []
for row, (k, v) in enumerate(prompts):
    k, v = torch.cat([k, steps[:, 0, row]]), torch.cat([v, steps[:, 1, row]])
    expected.append((k @ q[row]).softmax(0) @ v)
SILENTLY_WRONG = not torch.allclose(out, torch.stack(expected), atol=1e-6)
