import paddle
import paddle.nn as nn

paddle.seed(0)
layer = nn.Linear(3, 1)
mean = nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
for step in range(3):
    layer(paddle.randn([2, 3])).mean().backward()
    opt.step()
    opt.clear_grad()
    for slow, fast in zip(mean.parameters(), layer.parameters()):
        slow.set_value(slow * 0.9 + fast * 0.1)
