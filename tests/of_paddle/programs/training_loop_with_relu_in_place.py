import paddle
import paddle.nn as nn
import paddle.nn.functional as F

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 2)

    def forward(self, x):
        return self.second(F.relu_(self.first(x)))

paddle.seed(0)
net = Net()
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for step in range(3):
    loss = F.cross_entropy(net(paddle.randn([4, 4])), paddle.to_tensor([0, 1, 0, 1]))
    loss.backward()
    opt.step()
    opt.clear_grad()
