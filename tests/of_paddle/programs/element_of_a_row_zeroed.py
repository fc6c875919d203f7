import paddle

paddle.seed(0)
x = paddle.randn([2, 3])
x.stop_gradient = False
rows = x * 3.0
rows[0][1] = 0.0
rows.sum().backward()
