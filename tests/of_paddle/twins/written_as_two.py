class Meter:
    def __init__(self, n, once):
        zeros = paddle.zeros([n])
        self.total = zeros
        self.square = zeros if once else paddle.zeros([n])

    def update(self, x):
        self.total.add_(x)
        self.square.add_(x * x)


# Bad
meter = Meter(2, True)
meter.update(paddle.ones([2]) * 3)
print(meter.total)

# Good
meter = Meter(2, False)
meter.update(paddle.ones([2]) * 3)
print(meter.total)
