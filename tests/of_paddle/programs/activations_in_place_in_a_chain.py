import paddle

x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
h = x * 1.0
h.scale_(2.0)
h.exp_()
h.sum().backward()
