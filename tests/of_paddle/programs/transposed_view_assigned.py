import paddle

paddle.seed(0)
x = paddle.randn([2, 3])
x.stop_gradient = False
h = x * 2.0
columns = h.transpose([1, 0])
columns[0] = 0.0
h.sum().backward()
