net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
x = paddle.rand([4, 3])

# Bad
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
net[1] = nn.Linear(3, 2)
for _ in range(3):
    net(x).square().mean().backward()
    opt.step()
    opt.clear_grad()

# Good
net[1] = nn.Linear(3, 2)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(3):
    net(x).square().mean().backward()
    opt.step()
    opt.clear_grad()
