from functools import lru_cache


def lengths(cells):
    return cells.square().sum(axis=1)


cells, colours = paddle.ones([2, 3]), paddle.zeros([3, 3])

# Bad
@lru_cache
def kept_lengths(cells):
    return cells.square().sum(axis=1)


for colour in colours:
    gaps = kept_lengths(cells) - 2 * cells.matmul(colour)
    cells.scale_(0.9)

# Good
for colour in colours:
    gaps = lengths(cells) - 2 * cells.matmul(colour)
    cells.scale_(0.9)
