import paddle
import paddle.nn as nn

paddle.seed(0)
layer = nn.Linear(3, 3)
with paddle.no_grad():
    layer.weight[0].zero_()
    layer.weight[:, 1].scale_(2.0)
layer(paddle.ones([1, 3])).sum().backward()
