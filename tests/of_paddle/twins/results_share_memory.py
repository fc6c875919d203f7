buffer = paddle.zeros([3])
a, b = paddle.rand([3]), paddle.rand([3])


def doubled(x):
    buffer.copy_(x, True)
    return buffer.scale_(2.0)

# Bad
first = doubled(a)
second = doubled(b)
shown = (first * second).sum()

# Good
first = doubled(a).clone()
second = doubled(b)
shown = (first * second).sum()
