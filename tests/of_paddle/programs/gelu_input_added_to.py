import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
layer = nn.Linear(4, 4)
h = layer(paddle.randn([2, 4]))
g = F.gelu(h)
h.add_(g)
h.sum().backward()
