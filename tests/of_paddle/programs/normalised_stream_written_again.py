import paddle
import paddle.nn as nn

paddle.seed(0)
norm = nn.LayerNorm(4)
proj = nn.Linear(4, 4)
stream = proj(paddle.randn([2, 4]))
y = norm(stream)
stream.add_(y)
stream.sum().backward()
