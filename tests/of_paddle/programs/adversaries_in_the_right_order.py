import paddle
import paddle.nn as nn

paddle.seed(0)
maker, judge = nn.Linear(2, 2), nn.Linear(2, 1)
make = paddle.optimizer.Adam(0.01, parameters=maker.parameters())
judges = paddle.optimizer.Adam(0.01, parameters=judge.parameters())
for step in range(2):
    fake = maker(paddle.randn([4, 2]))
    judge(fake.detach()).mean().backward()
    judges.step()
    judges.clear_grad()
    judge(fake).mean().backward()
    make.step()
    make.clear_grad()
    judges.clear_grad()
