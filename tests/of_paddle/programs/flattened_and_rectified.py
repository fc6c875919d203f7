import paddle
import paddle.nn.functional as F

x = paddle.to_tensor([[-1.0, 2.0], [3.0, -4.0]], stop_gradient=False)
h = x * 2.0
flat = h.flatten()
F.relu_(flat)
h.sum().backward()
