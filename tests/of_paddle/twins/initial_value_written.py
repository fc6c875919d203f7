h0 = paddle.zeros([3])
sequences = [[paddle.rand([3]) for _ in range(2)] for _ in range(2)]

# Bad
finals = []
for sequence in sequences:
    h = h0
    for x in sequence:
        h.add_(x)
    finals.append(h.sum())

# Good
finals = []
for sequence in sequences:
    h = h0.clone()
    for x in sequence:
        h.add_(x)
    finals.append(h.sum())
