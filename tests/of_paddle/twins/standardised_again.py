table, axes = paddle.arange(12, dtype="float32").reshape([4, 3]) ** 2, paddle.ones([3])

# Bad
mean, std = table.mean(0), table.std(0)
table.subtract_(mean)
table.divide_(std)
scores = table.subtract(mean).divide(std) @ axes

# Good
mean, std = table.mean(0), table.std(0)
scores = table.subtract(mean).divide(std) @ axes
