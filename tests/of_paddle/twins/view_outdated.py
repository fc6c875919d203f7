curve = paddle.rand([5])

# Bad
def normalised(curve):
    first = curve[0]
    curve.subtract_(curve[-1].clone())
    curve.multiply_(first / 2.0)
    return curve


shown = normalised(curve).sum()

# Good
def normalised(curve):
    first = curve[0].clone()
    curve.subtract_(curve[-1].clone())
    curve.multiply_(first / 2.0)
    return curve


shown = normalised(curve).sum()
