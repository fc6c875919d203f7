first, shared, last = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
(100 * last(shared(first(paddle.randn([8, 4]))))).square().mean().backward()

# Bad
params = [*first.parameters(), *shared.parameters(), *shared.parameters(), *last.parameters()]
nn.utils.clip_grad_norm_(params, 1.0)

# Good
params = [*first.parameters(), *shared.parameters(), *last.parameters()]
nn.utils.clip_grad_norm_(params, 1.0)
