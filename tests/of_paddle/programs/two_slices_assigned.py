import paddle

x = paddle.ones([2, 4])
x.stop_gradient = False
out = x * 1.0
out[:, 0:2] = out[:, 0:2] * 2.0
out[:, 2:4] = out[:, 2:4] * 3.0
out.sum().backward()
