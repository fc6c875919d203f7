x = paddle.rand([4, 4])
x.stop_gradient = False

# Bad
gate = paddle.exp(x)
gate.copy_(paddle.ones([4, 4]), True)
gate.sum().backward()

# Good
gate = paddle.exp(x)
gate = gate.clip(min=0.5)
gate.sum().backward()
