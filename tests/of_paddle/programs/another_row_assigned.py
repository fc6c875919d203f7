import paddle

x = paddle.ones([2, 3])
x.stop_gradient = False
w = x * 2.0
first = w[0]
w[1] = 0.0
first.sum().backward()
