import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
conv = nn.Conv2D(1, 2, 3)
norm = nn.BatchNorm2D(2)
opt = paddle.optimizer.Momentum(0.1, parameters=[*conv.parameters(), *norm.parameters()])
for step in range(2):
    out = F.relu_(norm(conv(paddle.randn([2, 1, 6, 6]))))
    out.mean().backward()
    opt.step()
    opt.clear_grad()
