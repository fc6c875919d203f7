w = paddle.create_parameter([2], "float32")
opt = paddle.optimizer.SGD(0.1, parameters=[w])
batches = [paddle.rand([2]) for _ in range(8)]

# Bad
for i, x in enumerate(batches):
    opt.clear_grad()
    ((w * x + 1).square().sum() / 2).backward()
    if (i + 1) % 2 == 0:
        opt.step()

# Good
for i, x in enumerate(batches):
    ((w * x + 1).square().sum() / 2).backward()
    if (i + 1) % 2 == 0:
        opt.step()
        opt.clear_grad()
