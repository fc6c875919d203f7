# Bad
class Images:
    def __init__(self):
        self.images = paddle.rand([2, 3, 3])

    def __getitem__(self, i):
        image = self.images[i]
        return image.subtract_(paddle.to_tensor(0.5)).scale_(4.0)


images = Images()
for epoch in range(2):
    batch = paddle.stack([images[i] for i in range(2)])

# Good
class Images:
    def __init__(self):
        self.images = paddle.rand([2, 3, 3])

    def __getitem__(self, i):
        return (self.images[i] - 0.5) * 4.0


images = Images()
for epoch in range(2):
    batch = paddle.stack([images[i] for i in range(2)])
