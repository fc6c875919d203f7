# Bad
frames = paddle.arange(6.0).unfold(0, 4, 2)
frames.scale_(10.0)
shown = frames.sum()

# Good
frames = paddle.arange(6.0).unfold(0, 4, 2) * 10.0
shown = frames.sum()
