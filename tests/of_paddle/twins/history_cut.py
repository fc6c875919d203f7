x, w = paddle.ones([3]), paddle.ones([3])
x.stop_gradient = w.stop_gradient = False
h = x * 2.0


def probe(t):
    return t.sum()


# Bad
aside = probe(h.detach_())
loss = (h * w).sum()
loss.backward()

# Good
aside = probe(h.detach())
loss = (h * w).sum()
loss.backward()
