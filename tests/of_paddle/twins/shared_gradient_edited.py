def smaller(grad):
    with paddle.no_grad():
        grad.scale_(0.1)


x = paddle.rand([4, 4])
x.stop_gradient = False

# Bad
left, right = x * 2.0, x * 3.0
left.register_hook(smaller)
(left + right).square().sum().backward()

# Good
left, right = x * 2.0, x * 3.0
left.register_hook(lambda grad: grad * 0.1)
(left + right).square().sum().backward()
