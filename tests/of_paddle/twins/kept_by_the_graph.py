layers = [nn.Linear(400, 400) for _ in range(3)]
x = paddle.rand([400, 400])

# Bad
for layer in layers:
    x = F.sigmoid(layer(x))

# Good
with paddle.no_grad():
    for layer in layers:
        x = F.sigmoid(layer(x))
