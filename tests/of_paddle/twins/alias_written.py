ids = paddle.to_tensor([1, 2, 3, 4])

# Bad
def loss_of(ids, mask):
    labels = ids
    labels[mask] = -100
    return (ids * 2).sum() + labels.sum()


loss = loss_of(ids, ids > 2)

# Good
def loss_of(ids, mask):
    labels = ids.clone()
    labels[mask] = -100
    return (ids * 2).sum() + labels.sum()


loss = loss_of(ids, ids > 2)
