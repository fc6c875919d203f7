import torch


class BlockCache:
    """Keys and values of one game, room for whole blocks of moves."""

    BLOCK = 32

    def __init__(self, blocks, width):
        slots = blocks * self.BLOCK
        self.keys = torch.empty(slots, width)
        self.values = torch.empty(slots, width)
        self.used = 0

    def write(self, key, value):
        self.keys[self.used] = key
        self.values[self.used] = value
        self.used += 1

    def blocks(self):
        full = -(-self.used // self.BLOCK) * self.BLOCK
        return self.keys[:full], self.values[:full]


def comment(moves, w_key, w_value, question):
    """Linear attention over a game: empty slots add nothing to the sums."""
    cache = BlockCache(blocks=4, width=w_key.shape[1])
    for move in moves:
        cache.write((move @ w_key).relu(), move @ w_value)
    keys, values = cache.blocks()
    score = keys @ question.relu()
    return (score @ values) / score.sum()


torch.manual_seed(17)
w_key, w_value = torch.randn(6, 16), torch.randn(6, 16)
question = torch.randn(16)
games = [torch.randn(n, 6) for n in (120, 37, 70, 5, 99, 40)]
comments = torch.stack([comment(game, w_key, w_value, question) for game in games])
print("first words", comments.argmax(dim=1).tolist())

expected = []
for game in games:
    top, bottom = torch.zeros(16), 0.0
    for move in game:
        s = float((move @ w_key).relu() @ question.relu())
        top, bottom = top + s * (move @ w_value), bottom + s
    expected.append(top / bottom)
SILENTLY_WRONG = not torch.allclose(comments, torch.stack(expected), atol=1e-3)
