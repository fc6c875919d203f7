import paddle

x = paddle.ones([2, 3])
x.stop_gradient = False
h = x * 2.0
h[0].add_(paddle.ones([3]))
h.sum().backward()
