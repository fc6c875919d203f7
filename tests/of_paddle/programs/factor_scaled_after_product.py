import paddle

paddle.seed(0)
a = paddle.randn([4])
b = paddle.randn([4])
a.stop_gradient = b.stop_gradient = False
gate = a * 0.5
mixed = gate * b
gate.scale_(2.0)
(mixed + gate).sum().backward()
