filled = paddle.rand([2, 3])
gaps = paddle.to_tensor([[True, False, True], [False, True, False]])
estimate = paddle.rand([2, 3])

# Bad
filled.masked_scatter_(gaps, estimate)
shown = filled.sum()

# Good
filled[gaps] = estimate[gaps]
shown = filled.sum()
