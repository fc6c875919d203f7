import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
rows = paddle.zeros([3, 2])
for i in range(3):
    rows[i] = x * (i + 1)
rows.sum().backward()
