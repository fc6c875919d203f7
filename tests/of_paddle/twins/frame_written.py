song, window, levels = paddle.arange(16.0), paddle.to_tensor([0.0, 1.0, 1.0, 0.0]), []

# Bad
for begin in range(0, 13, 2):
    frame = song[begin : begin + 4]
    frame.multiply_(window)
    levels.append(frame.square().sum())

# Good
for begin in range(0, 13, 2):
    frame = song[begin : begin + 4] * window
    levels.append(frame.square().sum())
