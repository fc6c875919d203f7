x = paddle.rand([4, 4])
x.stop_gradient = False

# Bad
h = x * 1.5
h[0:2].scale_(8.0)
h.sum().backward()

# Good
h = x * 1.5
h[0:2] = h[0:2] * 8.0
h.sum().backward()
