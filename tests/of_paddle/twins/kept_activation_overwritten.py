conv = nn.Conv2D(1, 2, 3)
x = paddle.rand([1, 1, 5, 5])

# Bad
kept = {}
conv.register_forward_post_hook(lambda layer, a, out: kept.update(pre=out))
F.relu_(conv(x))
shown = kept["pre"].mean()

# Good
kept = {}
conv.register_forward_post_hook(lambda layer, a, out: kept.update(pre=out.clone()))
F.relu_(conv(x))
shown = kept["pre"].mean()
