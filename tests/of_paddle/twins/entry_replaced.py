model, x = nn.Linear(3, 3), paddle.ones([1, 3])


def replaced(model):
    own = model.state_dict()
    own["weight"] = paddle.zeros([3, 3])
    return None


def loaded(model):
    own = model.state_dict()
    own["weight"] = paddle.zeros([3, 3])
    model.set_state_dict(own)


# Bad
replaced(model)
after = model(x)

# Good
loaded(model)
after = model(x)
