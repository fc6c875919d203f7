q = paddle.rand([600, 600])
k = paddle.rand([600, 600])
bias = paddle.rand([600])

# Bad
scores = q @ k
scores = paddle.exp(scores)

# Good
scores = q @ k
scores.exp_()
