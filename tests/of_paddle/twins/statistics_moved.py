model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Linear(4, 1))
opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
x, held_out = paddle.rand([8, 3]), paddle.rand([8, 3]) + 3


def train():
    for _ in range(3):
        model(x).square().mean().backward()
        opt.step()
        opt.clear_grad()


train()

# Bad
with paddle.no_grad():
    print(float(model(held_out).square().mean()))
train()
model.eval()
out = model(x)

# Good
model.eval()
with paddle.no_grad():
    print(float(model(held_out).square().mean()))
model.train()
train()
model.eval()
out = model(x)
