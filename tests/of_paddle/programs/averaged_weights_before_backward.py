import paddle
import paddle.nn as nn

paddle.seed(0)
layer = nn.Linear(3, 3, bias_attr=False)
x = paddle.randn([2, 3])
x.stop_gradient = False
start = layer.weight.clone().detach()
out = layer(x)
layer.weight.set_value(start * 0.5)
out.sum().backward()
