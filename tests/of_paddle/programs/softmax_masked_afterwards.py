import paddle
import paddle.nn.functional as F

paddle.seed(0)
scores = paddle.randn([2, 4, 4])
scores.stop_gradient = False
attention = F.softmax(scores)
hidden = paddle.triu(paddle.ones([4, 4]), 1) > 0
attention[:, hidden] = 0.0
attention.sum().backward()
