start = paddle.rand([3])
w = paddle.create_parameter([3], "float32")

# Bad
for rate in (0.1, 0.2):
    w.data = start
    opt = paddle.optimizer.SGD(rate, parameters=[w])
    for _ in range(2):
        (w * w).sum().backward()
        opt.step()
        opt.clear_grad()

# Good
for rate in (0.1, 0.2):
    w.data = start.clone()
    opt = paddle.optimizer.SGD(rate, parameters=[w])
    for _ in range(2):
        (w * w).sum().backward()
        opt.step()
        opt.clear_grad()
