state = {"momentum": paddle.full([4], 3.0)}

# Bad
direction = state["momentum"].contiguous()
direction.divide_(direction.norm())
average = 0.9 * state["momentum"]

# Good
direction = state["momentum"].clone()
direction.divide_(direction.norm())
average = 0.9 * state["momentum"]
