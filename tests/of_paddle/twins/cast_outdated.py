net, x = nn.Linear(3, 2), paddle.ones([1, 3])


@paddle.no_grad()
def load(net, weights):
    for parameter, weight in zip(net.parameters(), weights):
        parameter.copy_(weight, False)


old_weights = [paddle.zeros_like(parameter) for parameter in net.parameters()]

# Bad
with paddle.amp.auto_cast(dtype="bfloat16"):
    new = net(x)
    load(net, old_weights)
    old = net(x)

# Good
with paddle.amp.auto_cast(dtype="bfloat16"):
    new = net(x)
load(net, old_weights)
with paddle.amp.auto_cast(dtype="bfloat16"):
    old = net(x)
