class Net(nn.Layer):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        for layer in self.layers:
            x = paddle.tanh(layer(x))
        return self.head(x)


def train(net, x):
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(3):
        opt.clear_grad()
        net(x).square().mean().backward()
        opt.step()


x = paddle.ones([3, 4])

# Bad
train(Net([nn.Linear(4, 4) for _ in range(2)]), x)

# Good
train(Net(nn.LayerList([nn.Linear(4, 4) for _ in range(2)])), x)
