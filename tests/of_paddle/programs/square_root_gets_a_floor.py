import paddle

paddle.seed(0)
x = paddle.randn([4])
x.stop_gradient = False
norm = paddle.sqrt(x * x + 0.01)
norm[norm < 0.5] = 0.5
(x / norm).sum().backward()
