row = paddle.arange(6, dtype="float32")
mask = paddle.zeros([1, 4]).expand([3, 4])
# Bad
mask.add_(paddle.ones([3, 4]))
row[1:].add_(row[:-1])
total = float(mask.sum() + row.sum())
# Good
mask = mask + 1.0
row = paddle.concat([row[:1], row[1:] + row[:-1]])
total = float(mask.sum() + row.sum())
