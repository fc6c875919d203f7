import paddle
import paddle.nn.functional as F

paddle.seed(0)
x = paddle.randn([4, 4])
x.stop_gradient = False
out = F.relu(x)
out.add_(x)
out.sum().backward()
