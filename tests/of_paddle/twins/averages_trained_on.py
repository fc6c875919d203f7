model = nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
average = [p.detach().clone() for p in model.parameters()]
batches = [paddle.rand([4, 3]) for _ in range(8)]


def train(some):
    for x in some:
        model(x).square().mean().backward()
        opt.step()
        opt.clear_grad()
        with paddle.no_grad():
            for s, p in zip(average, model.parameters()):
                s.scale_(0.9).add_(0.1 * p)


train(batches[:4])

# Bad
with paddle.no_grad():
    for s, p in zip(average, model.parameters()):
        p.copy_(s, True)
    print(float(model(batches[0]).mean()))
train(batches[4:])

# Good
kept = [p.detach().clone() for p in model.parameters()]
with paddle.no_grad():
    for s, p in zip(average, model.parameters()):
        p.copy_(s, True)
    print(float(model(batches[0]).mean()))
    for s, p in zip(kept, model.parameters()):
        p.copy_(s, True)
train(batches[4:])
