q = paddle.rand([600, 600])
k = paddle.rand([600, 600])
bias = paddle.rand([600])

# Bad
scores = q @ k
scores = scores + bias

# Good
scores = q @ k
scores.add_(bias)
