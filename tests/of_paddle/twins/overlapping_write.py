x = paddle.rand([3, 5])

# Bad
x[:, 1:].add_(x[:, :-1])
shown = x.sum()

# Good
x[:, 1:].add_(x[:, :-1].clone())
shown = x.sum()
