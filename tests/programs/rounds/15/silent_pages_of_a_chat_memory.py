import torch


class Pages:
    def __init__(self, layers, blocks, size, width):
        self.size = size
        self.keys = torch.zeros(layers, blocks, size, width)
        self.values = torch.zeros(layers, blocks, size, width)
        self.tables = {}

    def append(self, name, layer, place, key, value):
        block = self.tables[name][place // self.size]
        self.keys[layer, block, place % self.size] = key
        self.values[layer, block, place % self.size] = value

    def copy_blocks(self, moves):
        for cache in (*self.keys, *self.values):
            for source, target in moves:
                cache[target] = cache[source]

    def defragment(self):
        moves, free = [], 0
        for name, table in sorted(self.tables.items()):
            fresh = list(range(free, free + len(table)))
            moves += [(s, t) for s, t in zip(table, fresh) if s != t]
            self.tables[name], free = fresh, free + len(table)
        self.copy_blocks(moves)

    def attend(self, name, layer, length, query):
        keys = self.keys[layer, self.tables[name]].flatten(0, 1)[:length]
        values = self.values[layer, self.tables[name]].flatten(0, 1)[:length]
        return (keys @ query).softmax(dim=0) @ values


torch.manual_seed(163)
pages = Pages(layers=2, blocks=8, size=3, width=4)
pages.tables = {"ann": [2, 0, 6], "bob": [1, 4]}
lengths = {"ann": 8, "bob": 6}
data = {(n, i): torch.randn(2, lengths[n], 4) for n in lengths for i in range(2)}
for (name, layer), (keys, values) in data.items():
    for place in range(lengths[name]):
        pages.append(name, layer, place, keys[place], values[place])
pages.defragment()
query = torch.randn(4)
read = torch.stack([pages.attend(n, i, lengths[n], query) for n, i in data])

expected = torch.stack([(k @ query).softmax(dim=0) @ v for k, v in data.values()])
SILENTLY_WRONG = not torch.allclose(read, expected, atol=1e-5)
