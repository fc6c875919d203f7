import paddle
import paddle.nn.functional as F

x = paddle.to_tensor([0.0, 0.0], stop_gradient=False)
y = F.sigmoid(x)
y += 1
y.sum().backward()
