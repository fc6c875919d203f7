model = nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
batches = [paddle.rand([2, 3]) for _ in range(3)]

# Bad
for batch in batches:
    model(batch).sum().backward()
    opt.step()

# Good
for batch in batches:
    opt.clear_grad()
    model(batch).sum().backward()
    opt.step()
