pool = paddle.arange(6, dtype="float32").reshape([3, 2])
image = paddle.full([2], 9.0)

# Bad
earlier = pool[1]
pool[1] = image
shown = earlier.sum()

# Good
earlier = pool[1].clone()
pool[1] = image
shown = earlier.sum()
