import paddle
import paddle.nn.functional as F

def keep_background(probs):
    probs[:, 0] = 0.5
    return probs

paddle.seed(0)
x = paddle.randn([4, 3])
x.stop_gradient = False
probs = F.sigmoid(x)
loss = keep_background(probs).sum()
loss.backward()
