import torch


class Pages:
    def __init__(self, layers, blocks, size, width):
        self.size = size
        self.caches = torch.zeros(2, layers, blocks, size, width)
        self.tables = {}

    def append(self, name, layer, place, pair):
        block = self.tables[name][place // self.size]
        self.caches[:, layer, block, place % self.size] = pair

    def copy_blocks(self, moves):
        sources, targets = (list(side) for side in zip(*moves))
        for cache in self.caches.flatten(0, 1):
            cache[targets] = cache[sources]

    def defragment(self):
        moves, free = [], 0
        for name, table in sorted(self.tables.items()):
            fresh = list(range(free, free + len(table)))
            moves += [(s, t) for s, t in zip(table, fresh) if s != t]
            self.tables[name], free = fresh, free + len(table)
        self.copy_blocks(moves)

    def attend(self, name, layer, length, query):
        keys, values = self.caches[:, layer, self.tables[name]].flatten(1, 2)[:, :length]
        return (keys @ query).softmax(dim=0) @ values


torch.manual_seed(164)
pages = Pages(layers=2, blocks=9, size=2, width=3)
pages.tables = {"oat": [3, 1, 7], "rye": [0, 2]}
lengths = {"oat": 5, "rye": 4}
data = {(n, i): torch.randn(2, lengths[n], 3) for n in lengths for i in range(2)}
for (name, layer), pairs in data.items():
    for place in range(lengths[name]):
        pages.append(name, layer, place, pairs[:, place])
pages.defragment()
query = torch.randn(3)
read = torch.stack([pages.attend(n, i, lengths[n], query) for n, i in data])

expected = torch.stack([(k @ query).softmax(dim=0) @ v for k, v in data.values()])
SILENTLY_WRONG = not torch.allclose(read, expected, atol=1e-5)
