maker, judge = nn.Linear(2, 3), nn.Linear(3, 1)
opt_maker = paddle.optimizer.SGD(0.1, parameters=maker.parameters())
opt_judge = paddle.optimizer.SGD(0.1, parameters=judge.parameters())
noise, real = paddle.rand([8, 2]), paddle.rand([8, 3])

# Bad
judge(maker(noise)).mean().backward()
opt_maker.step()
(-judge(real)).mean().backward()
opt_judge.step()

# Good
judge(maker(noise)).mean().backward()
opt_maker.step()
opt_judge.clear_grad()
(-judge(real)).mean().backward()
opt_judge.step()
