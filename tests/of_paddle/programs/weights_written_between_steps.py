import paddle
import paddle.nn as nn

paddle.seed(0)
layer = nn.Linear(3, 3)
opt = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
for step in range(2):
    layer(paddle.randn([2, 3])).sum().backward()
    opt.step()
    opt.clear_grad()
    with paddle.no_grad():
        layer.weight.clip_(-0.1, 0.1)
        layer.bias[:] = 0.0
        layer.weight.set_value(layer.weight * 0.5)
