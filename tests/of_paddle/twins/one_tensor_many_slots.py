state = paddle.zeros([2])
velocity = paddle.ones([2])

# Bad
history = []
for t in range(4):
    history.append(state)
    state.add_(velocity)
path = paddle.stack(history)

# Good
history = []
for t in range(4):
    history.append(state.clone())
    state.add_(velocity)
path = paddle.stack(history)
