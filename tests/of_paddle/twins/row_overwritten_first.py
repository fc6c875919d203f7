x = paddle.rand([4, 2])
order = [3, 2, 1, 0]

# Bad
for i, j in enumerate(order):
    x[i] = x[j]
shown = x.sum()

# Good
x = x[paddle.to_tensor(order)]
shown = x.sum()
