import torch
from torch import nn


class ShardSet:
    def __init__(self, shards, transform=None):
        self.shards = shards
        self.transform = transform

    def __len__(self):
        return len(self.shards)

    def __getitem__(self, index):
        shard = self.shards[index]
        return self.transform(shard) if self.transform else shard


class JoinPeriods:
    """Two neighbouring periods count as one class: 0 1 -> 0, 2 3 -> 1, 4 5 -> 2."""

    def __call__(self, shard):
        shard["period"] //= 2
        return shard


def dig(count):
    shards = []
    for _ in range(count):
        period = torch.randint(0, 6, (1,))
        shape = torch.randn(5) * 0.3
        shape[int(period) // 2] += 2.0
        shards.append({"shape": shape, "period": period})
    return shards


torch.manual_seed(12)
shards = dig(90)
written_down = [int(shard["period"]) for shard in shards]
shapes = torch.stack([shard["shape"] for shard in shards])
dataset = ShardSet(shards, JoinPeriods())
sorter = nn.Linear(5, 3)
optimizer = torch.optim.Adam(sorter.parameters(), lr=0.05)
for epoch in range(5):
    for start in range(0, len(dataset), 15):
        batch = [dataset[i] for i in range(start, start + 15)]
        shape = torch.stack([item["shape"] for item in batch])
        label = torch.cat([item["period"] for item in batch])
        optimizer.zero_grad()
        nn.functional.cross_entropy(sorter(shape), label).backward()
        optimizer.step()
found = sorter(shapes).argmax(dim=1)
joined = torch.tensor([period // 2 for period in written_down])
accuracy = (found == joined).float().mean().item()
print("right", round(accuracy, 3), "classes found", found.unique().tolist())
SILENTLY_WRONG = not torch.equal(label, joined[75:90])
