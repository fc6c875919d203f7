import paddle

a = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
a.scale_(2.0)
