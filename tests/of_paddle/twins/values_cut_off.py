mean = paddle.zeros([3], dtype="int64")
values = paddle.to_tensor([0.25, 0.5])

# Bad
mean[0] = values.mean()
shown = mean.sum()

# Good
mean = paddle.zeros([3])
mean[0] = values.mean()
shown = mean.sum()
