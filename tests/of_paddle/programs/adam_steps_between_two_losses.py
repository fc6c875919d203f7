import paddle
import paddle.nn as nn

paddle.seed(0)
body = nn.Linear(3, 3, bias_attr=False)
head = nn.Linear(3, 2, bias_attr=False)
opt = paddle.optimizer.Adam(0.1, parameters=head.parameters())
x = paddle.randn([4, 3])
before = head.weight.clone().detach()
out = head(body(x))
out.mean().backward(retain_graph=True)
first = body.weight.grad.clone()
opt.step()
body.weight.clear_gradient()
out.sum().backward()
