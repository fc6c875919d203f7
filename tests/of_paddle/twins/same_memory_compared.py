model = nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
x = paddle.rand([2, 3])

# Bad
best = model.state_dict()
model(x).sum().backward()
opt.step()
model.set_state_dict(best)
shown = model(x).sum()

# Good
best = {name: value.clone() for name, value in model.state_dict().items()}
model(x).sum().backward()
opt.step()
model.set_state_dict(best)
shown = model(x).sum()
