import random

import torch


class LoopPool:
    def __init__(self, size, length, seed):
        self.loops = torch.zeros(size, length)
        self.filled = 0
        self.random = random.Random(seed)

    def query(self, batch):
        answer = []
        for loop in batch:
            if self.filled < len(self.loops):
                self.loops[self.filled] = loop
                self.filled += 1
                answer.append(loop)
            elif self.random.random() > 0.5:
                place = self.random.randrange(len(self.loops))
                answer.append(self.loops[place].clone())
                self.loops[place] = loop
            else:
                answer.append(loop)
        return torch.stack(answer)


torch.manual_seed(867)
pool = LoopPool(size=5, length=8, seed=12)
batches = [torch.randn(4, 8) for _ in range(10)]
shown = torch.cat([pool.query(batch) for batch in batches])

chance, kept, expected = random.Random(12), [], []
for loop in torch.cat(batches).tolist():
    if len(kept) < 5:
        kept.append(loop)
    elif chance.random() > 0.5:
        place = chance.randrange(5)
        kept[place], loop = loop, kept[place]
    expected.append(loop)
SILENTLY_WRONG = not torch.equal(shown, torch.tensor(expected))
