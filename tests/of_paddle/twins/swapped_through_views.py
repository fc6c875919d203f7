x = paddle.rand([4, 3])

# Bad
x[0], x[1] = x[1], x[0]
shown = x.sum()

# Good
x[[0, 1]] = x[[1, 0]]
shown = x.sum()
