import paddle
import paddle.nn as nn

paddle.seed(0)
layer = nn.Linear(3, 1)
opt = paddle.optimizer.AdamW(0.01, parameters=layer.parameters())
for batch in range(2):
    layer(paddle.randn([4, 3])).mean().backward()
with paddle.no_grad():
    for p in layer.parameters():
        p.grad.clip_(-1.0, 1.0)
opt.step()
opt.clear_grad()
