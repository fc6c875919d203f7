import paddle
import paddle.nn as nn

paddle.seed(0)
rnn = nn.LSTM(3, 4)
head = nn.Linear(4, 1)
opt = paddle.optimizer.RMSProp(0.01, parameters=[*rnn.parameters(), *head.parameters()])
for step in range(2):
    out, state = rnn(paddle.randn([2, 5, 3]))
    head(out[:, -1]).mean().backward()
    opt.step()
    opt.clear_grad()
