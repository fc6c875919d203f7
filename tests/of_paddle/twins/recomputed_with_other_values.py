from paddle.distributed.fleet.utils import recompute
temperature = paddle.to_tensor([2.0])
x = paddle.rand([4, 4])
x.stop_gradient = False

# Bad
loss = recompute(lambda a: paddle.tanh(a * temperature), x).sum()
temperature.scale_(0.5)
loss.backward()

# Good
loss = recompute(lambda a: paddle.tanh(a * temperature), x).sum()
loss.backward()
temperature.scale_(0.5)
