u = paddle.rand([3])

# Bad
def scaled_sum(a, b):
    a.scale_(2.0)
    return a + b


y = scaled_sum(u, u)

# Good
def scaled_sum(a, b):
    a = a * 2.0
    return a + b


y = scaled_sum(u, u)
