import paddle

a = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
x = a * 1.0
y = x.scale_(2.0)
same = (y is x, id(y) == id(x))
y.sum().backward()
