scores = paddle.rand([2, 4])
padding = scores > 0.5

# Bad
def masked(scores, padding):
    scores.masked_fill(padding, -1e9)
    return F.softmax(scores)


out = masked(scores, padding)

# Good
def masked(scores, padding):
    scores = scores.masked_fill(padding, -1e9)
    return F.softmax(scores)


out = masked(scores, padding)
