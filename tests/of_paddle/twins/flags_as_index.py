values = paddle.rand([5, 2])
done = paddle.to_tensor([0, 0, 1, 0, 1])

# Bad
values[done] = 0.0
shown = values.sum()

# Good
values[done.astype("bool")] = 0.0
shown = values.sum()
