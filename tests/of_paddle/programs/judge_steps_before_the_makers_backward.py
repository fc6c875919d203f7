import paddle
import paddle.nn as nn

paddle.seed(0)
maker = nn.Linear(2, 2, bias_attr=False)
judge = nn.Linear(2, 1, bias_attr=False)
opt = paddle.optimizer.SGD(0.5, parameters=judge.parameters())
noise = paddle.randn([4, 2])
before = judge.weight.clone().detach()
fake = maker(noise)
verdict = judge(fake)
judge(fake.detach()).mean().backward()
opt.step()
verdict.mean().backward()
