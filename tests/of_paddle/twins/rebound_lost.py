model = nn.Linear(3, 2)
averages = [p.clone() * 0.9 for p in model.parameters()]

# Bad
for p, average in zip(model.parameters(), averages):
    p = average.detach()
out = model(paddle.ones([1, 3]))

# Good
with paddle.no_grad():
    for p, average in zip(model.parameters(), averages):
        p.set_value(average)
out = model(paddle.ones([1, 3]))
