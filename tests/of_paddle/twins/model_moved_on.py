net = nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
x, y = paddle.rand([4, 3]), paddle.ones([4, 1])


def step():
    loss = (net(x) - y).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    return float(loss)


least, best = 1e9, None

# Bad
for _ in range(6):
    loss = step()
    if loss < least:
        least, best = loss, net
left = best(x)

# Good
import copy
for _ in range(6):
    loss = step()
    if loss < least:
        least, best = loss, copy.deepcopy(net)
left = best(x)
