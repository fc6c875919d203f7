import paddle

paddle.seed(0)
w = paddle.create_parameter([3], "float32")
x = paddle.ones([3])
loss = (w * x).sum()
loss.backward()
w[:] = w - 0.1 * w.grad
