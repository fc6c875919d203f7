model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))

# Bad
with paddle.no_grad():
    for layer in model.sublayers(include_self=True):
        for p in layer.parameters():
            p.scale_(0.9)
out = model(paddle.ones([1, 3]))

# Good
with paddle.no_grad():
    for p in model.parameters():
        p.scale_(0.9)
out = model(paddle.ones([1, 3]))
