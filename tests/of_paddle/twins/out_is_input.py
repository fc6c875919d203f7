step = paddle.rand([3, 3])
state = paddle.rand([3, 3])

# Bad
paddle.matmul(step, state, out=state)
shown = state.sum()

# Good
state = paddle.matmul(step, state)
shown = state.sum()
