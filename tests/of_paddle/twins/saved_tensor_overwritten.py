x = paddle.rand([4, 4])
x.stop_gradient = False

# Bad
probs = F.sigmoid(x)
probs[2] = 2.0
try:
    probs.sum().backward()
except RuntimeError:
    pass

# Good
probs = F.sigmoid(x)
probs = probs.clone()
probs[2] = 2.0
probs.sum().backward()
