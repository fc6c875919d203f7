images = paddle.rand([4, 2, 2])
lam = 0.3

# Bad
images.scale_(lam).add_((1 - lam) * images.flip(0))
shown = images.sum()

# Good
images = images * lam + (1 - lam) * images.flip(0)
shown = images.sum()
