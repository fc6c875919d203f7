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
        n = len(k)
        self.keys[row, :n] = k
        self.values[row, :n] = v
        self.lengths[row] = n

    def append(self, k, v):
        rows = torch.arange(len(k))
        self.keys[rows, self.lengths].copy_(k)
        self.values[rows, self.lengths].copy_(v)
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
step = torch.randn(2, 2, 4)
cache.append(step[0], step[1])

q = torch.randn(2, 4)
out = cache.attend(q)

expected = []
for row, (k, v) in enumerate(prompts):
    k, v = torch.cat([k, step[0, row:row + 1]]), torch.cat([v, step[1, row:row + 1]])
    expected.append((k @ q[row]).softmax(0) @ v)
SILENTLY_WRONG = not torch.allclose(out, torch.stack(expected), atol=1e-6)
