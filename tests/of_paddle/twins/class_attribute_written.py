# Bad
class Histogram:
    counts = paddle.zeros([4])

    def add(self, labels):
        self.counts.add_(labels)


a, b = Histogram(), Histogram()
a.add(paddle.ones([4]))
b.add(paddle.ones([4]))
shown = b.counts.sum()

# Good
class Histogram:
    def __init__(self):
        self.counts = paddle.zeros([4])

    def add(self, labels):
        self.counts.add_(labels)


a, b = Histogram(), Histogram()
a.add(paddle.ones([4]))
b.add(paddle.ones([4]))
shown = b.counts.sum()
