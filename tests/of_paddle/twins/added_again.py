class Layer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = paddle.zeros([2, 2])
        self.up, self.down = (self.create_parameter([2, 2]) for _ in range(2))

    def merge(self):
        self.weight.add_(paddle.matmul(self.up, self.down))


@paddle.no_grad()
def run(layer, each_time):
    ends = []
    for batch in paddle.ones([3, 1, 2]):
        if each_time or not ends:
            layer.merge()
        ends.append(paddle.matmul(batch, layer.weight).sum().item())
    return ends


# Bad
ends = run(Layer(), True)

# Good
ends = run(Layer(), False)
