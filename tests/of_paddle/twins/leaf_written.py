# Bad
w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
try:
    w.subtract_(paddle.ones([2]))
except ValueError:
    pass

# Good
w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
with paddle.no_grad():
    w.subtract_(paddle.ones([2]))
