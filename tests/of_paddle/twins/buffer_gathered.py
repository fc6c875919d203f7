import numpy as np
frame = np.zeros(3, dtype=np.float32)

# Bad
seen = []
for value in (1.0, 2.0):
    frame[:] = value
    seen.append(paddle.from_dlpack(frame))
video = paddle.stack(seen)

# Good
seen = []
for value in (1.0, 2.0):
    frame[:] = value
    seen.append(paddle.to_tensor(frame))
video = paddle.stack(seen)
