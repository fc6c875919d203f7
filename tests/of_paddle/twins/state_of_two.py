import copy
v = paddle.create_parameter([3], "float32", attr=paddle.ParamAttr(name="v"))
w = paddle.create_parameter([3], "float32", attr=paddle.ParamAttr(name="w"))
leader = paddle.optimizer.Momentum(0.1, parameters=[v])
follower = paddle.optimizer.Momentum(0.1, parameters=[w])
(v * v + w * w).sum().backward()
leader.step()
follower.step()

# Bad
follower.set_state_dict(leader.state_dict())
for _ in range(2):
    (v * v + w * w).sum().backward()
    leader.step()
    follower.step()
    leader.clear_grad()
    follower.clear_grad()

# Good
follower.set_state_dict(copy.deepcopy(leader.state_dict()))
for _ in range(2):
    (v * v + w * w).sum().backward()
    leader.step()
    follower.step()
    leader.clear_grad()
    follower.clear_grad()
