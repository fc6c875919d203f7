import paddle
import paddle.nn as nn

paddle.seed(0)
layer = nn.Linear(3, 3)
x = paddle.randn([2, 3])
x.stop_gradient = False
h = layer(x)
h.add_(x)
h.sum().backward()
