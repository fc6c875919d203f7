import paddle

canvas = paddle.zeros([3])
canvas.stop_gradient = False
for step in range(3):
    canvas[step] = float(step)
