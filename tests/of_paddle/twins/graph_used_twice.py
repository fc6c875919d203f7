cell = nn.Linear(3, 4)
batches = [paddle.rand([2, 3]) for _ in range(3)]

# Bad
h = paddle.zeros([2, 4])
try:
    for batch in batches:
        h = F.tanh(cell(batch) + h)
        h.square().mean().backward()
except (RuntimeError, SystemError):
    pass

# Good
h = paddle.zeros([2, 4])
for batch in batches:
    h = F.tanh(cell(batch) + h.detach())
    h.square().mean().backward()
