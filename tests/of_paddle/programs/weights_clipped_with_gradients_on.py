import paddle
import paddle.nn as nn

paddle.seed(0)
layer = nn.Linear(3, 3)
layer(paddle.randn([2, 3])).sum().backward()
layer.weight.clip_(-0.01, 0.01)
