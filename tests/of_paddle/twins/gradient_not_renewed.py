local = paddle.create_parameter([3], "float32")
shared = paddle.create_parameter([3], "float32")
opt = paddle.optimizer.SGD(0.1, parameters=[shared])
batches = [paddle.rand([3]) for _ in range(3)]

# Bad
for batch in batches:
    local.clear_grad()
    (local * batch).sum().backward()
    if shared.grad is None:
        shared.grad = local.grad
    opt.step()

# Good
for batch in batches:
    local.clear_grad()
    (local * batch).sum().backward()
    shared.grad = local.grad
    opt.step()
