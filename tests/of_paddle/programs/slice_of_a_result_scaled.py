import paddle

paddle.seed(0)
x = paddle.randn([4, 2])
x.stop_gradient = False
h = x * 2.0
part = h[0:2]
part.scale_(8.0)
h.sum().backward()
