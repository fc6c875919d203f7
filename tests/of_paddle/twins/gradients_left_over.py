w = paddle.create_parameter([2], "float32")
opt = paddle.optimizer.SGD(0.1, parameters=[w])
batches = [paddle.rand([2]) for _ in range(5)]

# Bad
for epoch in range(3):
    for i, x in enumerate(batches):
        ((w * x + 1).square().sum() / 2).backward()
        if (i + 1) % 2 == 0:
            opt.step()
            opt.clear_grad()

# Good
for epoch in range(3):
    for i, x in enumerate(batches):
        ((w * x + 1).square().sum() / 2).backward()
        if (i + 1) % 2 == 0 or i + 1 == len(batches):
            opt.step()
            opt.clear_grad()
