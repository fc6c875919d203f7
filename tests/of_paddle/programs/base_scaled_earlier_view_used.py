import paddle

paddle.seed(0)
x = paddle.randn([2, 3])
x.stop_gradient = False
h = x * 2.0
first = h[0]
h.scale_(3.0)
first.sum().backward()
