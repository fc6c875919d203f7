import copy
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Linear(4, 1))
average = copy.deepcopy(model)
opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
x = paddle.rand([8, 3])
for _ in range(4):
    model(x).square().mean().backward()
    opt.step()
    opt.clear_grad()
average.eval()

# Bad
with paddle.no_grad():
    for p, q in zip(average.parameters(), model.parameters()):
        if not p.stop_gradient:
            p.scale_(0.5).add_(0.5 * q)
    out = average(x)

# Good
with paddle.no_grad():
    for p, q in zip(average.parameters(), model.parameters()):
        p.scale_(0.5).add_(0.5 * q)
    out = average(x)
