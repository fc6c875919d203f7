import copy


class Meter:
    def __init__(self):
        self.count = paddle.zeros([2])

    def update(self, x):
        self.count.add_(x)


meter = Meter()

# Bad
best = copy.copy(meter)
meter.update(paddle.ones([2]))
best.update(paddle.ones([2]))

# Good
best = copy.deepcopy(meter)
meter.update(paddle.ones([2]))
best.update(paddle.ones([2]))
