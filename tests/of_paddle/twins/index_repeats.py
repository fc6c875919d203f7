count = paddle.zeros([5])
labels = paddle.to_tensor([3, 3, 1])

# Bad
count[labels] += 1.0
shown = count.sum()

# Good
count = paddle.bincount(labels, minlength=5)
shown = count.sum()
