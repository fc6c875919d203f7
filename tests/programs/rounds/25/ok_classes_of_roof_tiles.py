import torch
from torch import nn


class TileSet:
    def __init__(self, tiles, transform):
        self.tiles = tiles
        self.transform = transform

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, index):
        tile = {name: value.clone() for name, value in self.tiles[index].items()}
        return self.transform(tile)


def join_kinds(tile):
    tile["kind"] //= 2
    tile["size"].sub_(tile["size"].mean())
    return tile


def kiln(count):
    tiles = []
    for _ in range(count):
        kind = torch.randint(0, 8, (1,))
        size = 0.4 * torch.randn(6)
        size[int(kind) // 2] += 2.0
        tiles.append({"size": size, "kind": kind})
    return tiles


torch.manual_seed(13)
tiles = kiln(80)
kinds = [int(tile["kind"]) for tile in tiles]
dataset = TileSet(tiles, join_kinds)
sorter = nn.Linear(6, 4)
optimizer = torch.optim.Adam(sorter.parameters(), lr=0.05)
seen = []
for epoch in range(6):
    items = [dataset[i] for i in range(len(dataset))]
    size = torch.stack([item["size"] for item in items])
    label = torch.cat([item["kind"] for item in items])
    seen.append(label.tolist())
    optimizer.zero_grad()
    nn.functional.cross_entropy(sorter(size), label).backward()
    optimizer.step()
print("right", round((sorter(size).argmax(dim=1) == label).float().mean().item(), 3))
SILENTLY_WRONG = any(labels != [kind // 2 for kind in kinds] for labels in seen)
