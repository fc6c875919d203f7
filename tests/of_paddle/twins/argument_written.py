weights = paddle.arange(6, dtype="float32")

# Bad
def places(weights):
    weights.divide_(weights.sum())
    return weights.cumsum(0)


finer = places(weights[1:5])
opacity = weights.sum()

# Good
def places(weights):
    shares = weights / weights.sum()
    return shares.cumsum(0)


finer = places(weights[1:5])
opacity = weights.sum()
