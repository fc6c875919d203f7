w = paddle.create_parameter([2], "float32")
opt = paddle.optimizer.SGD(0.1, parameters=[w])

# Bad
for _ in range(3):
    (w * 9 + 1).square().sum().backward()
    opt.step()
    with paddle.no_grad():
        w.grad.scale_(0.1)
    opt.clear_grad()

# Good
for _ in range(3):
    (w * 9 + 1).square().sum().backward()
    with paddle.no_grad():
        w.grad.scale_(0.1)
    opt.step()
    opt.clear_grad()
