model = nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
parts = [paddle.rand([2, 3]) for _ in range(2)]

# Bad
for part in parts:
    model(part).sum().backward()
    with paddle.no_grad():
        model.weight.grad.scale_(0.5)
opt.step()

# Good
for part in parts:
    (model(part).sum() * 0.5).backward()
opt.step()
