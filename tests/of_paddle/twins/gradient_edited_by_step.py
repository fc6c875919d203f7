w = paddle.full([2], 3.0)
w.stop_gradient = False
(w * w).sum().backward()
importance = paddle.zeros([2])

# Bad
def step(p):
    direction = p.grad
    direction.add_(p.detach())
    p.subtract_(0.1 * direction)


with paddle.no_grad():
    step(w)
    importance = importance + w.grad.square()

# Good
def step(p):
    direction = p.grad.add(p.detach())
    p.subtract_(0.1 * direction)


with paddle.no_grad():
    step(w)
    importance = importance + w.grad.square()
