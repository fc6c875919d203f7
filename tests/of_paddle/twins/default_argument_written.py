x = paddle.rand([2, 3])

# Bad
def scan(x, state=paddle.zeros([3])):
    for row in x:
        state.add_(row)
    return state.sum()


first, second = scan(x), scan(x)

# Good
def scan(x, state=None):
    state = paddle.zeros([3]) if state is None else state
    for row in x:
        state.add_(row)
    return state.sum()


first, second = scan(x), scan(x)
