x = paddle.rand([4, 3])

# Bad
members = [nn.Linear(3, 1)] * 5
with paddle.no_grad():
    spread = paddle.stack([member(x) for member in members]).std(0)

# Good
members = [nn.Linear(3, 1) for _ in range(5)]
with paddle.no_grad():
    spread = paddle.stack([member(x) for member in members]).std(0)
