import copy
online = nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=online.parameters())
x = paddle.rand([4, 3])

# Bad
target = copy.copy(online)
for _ in range(2):
    with paddle.no_grad():
        goal = target(x) + 1.0
    loss = (online(x) - goal).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()

# Good
target = copy.deepcopy(online)
for _ in range(2):
    with paddle.no_grad():
        goal = target(x) + 1.0
    loss = (online(x) - goal).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
