import paddle

paddle.seed(0)
x = paddle.randn([2, 3])
x.stop_gradient = False
h = x * 2.0
left, right = h.unbind(0)
left.scale_(5.0)
h.sum().backward()
