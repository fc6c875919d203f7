import paddle

x = paddle.ones([2, 4])
x.stop_gradient = False
h = x * 1.0
left, right = paddle.split(h, 2, axis=1)
left.scale_(5.0)
h.sum().backward()
