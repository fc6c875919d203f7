x = paddle.rand([600, 600])
x.stop_gradient = False

# Bad
h = x * 2.0
h.square_()
h.sum().backward()

# Good
h = x * 2.0
h = h.square()
h.sum().backward()
