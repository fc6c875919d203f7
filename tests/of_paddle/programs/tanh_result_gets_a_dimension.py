import paddle

paddle.seed(0)
x = paddle.randn([4])
x.stop_gradient = False
h = paddle.tanh(x)
h.unsqueeze_(0)
h.sum().backward()
