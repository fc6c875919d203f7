w = paddle.create_parameter([3], "float32")
opt = paddle.optimizer.Momentum(0.1, parameters=[w])

# Bad
(w * w).sum().backward()
opt.step()
w.stop_gradient = True
opt.clear_grad(set_to_zero=True)
opt.step()

# Good
(w * w).sum().backward()
opt.step()
w.stop_gradient = True
w.clear_gradient()
