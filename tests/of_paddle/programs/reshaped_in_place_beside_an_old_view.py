import paddle

x = paddle.ones([2, 3])
x.stop_gradient = False
h = x * 2.0
first = h[0]
h.reshape_([3, 2])
first.sum().backward()
