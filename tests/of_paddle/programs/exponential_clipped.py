import paddle

paddle.seed(0)
logp = paddle.randn([8])
logp.stop_gradient = False
ratio = paddle.exp(logp)
ratio.clip_(0.8, 1.2)
ratio.mean().backward()
