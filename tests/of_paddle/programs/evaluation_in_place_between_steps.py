import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2))
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for epoch in range(2):
    net.train()
    F.cross_entropy(net(paddle.randn([4, 4])), paddle.to_tensor([0, 1, 0, 1])).backward()
    opt.step()
    opt.clear_grad()
    net.eval()
    with paddle.no_grad():
        probs = F.softmax_(net(paddle.randn([4, 4])))
        probs[probs < 0.5] = 0.0
