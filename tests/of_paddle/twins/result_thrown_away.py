scores = paddle.rand([2, 4])

# Bad
def bounded(scores):
    scores.clip(0.0, 0.5)
    return F.softmax(scores)


out = bounded(scores)

# Good
def bounded(scores):
    scores = scores.clip(0.0, 0.5)
    return F.softmax(scores)


out = bounded(scores)
