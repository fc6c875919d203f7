w = paddle.create_parameter([3], "float32")
opt = paddle.optimizer.SGD(0.1, parameters=[w])

# Bad
(w * w).sum().backward()
opt.clear_grad()
opt.step()

# Good
opt.clear_grad()
(w * w).sum().backward()
opt.step()
