model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
vectors = paddle.rand([3, 3])


def initialise(layer):
    if isinstance(layer, nn.Linear):
        with paddle.no_grad():
            layer.weight.normal_()

# Bad
model[0].weight.set_value(vectors)
model.apply(initialise)
out = model(vectors)

# Good
model.apply(initialise)
model[0].weight.set_value(vectors)
out = model(vectors)
