import paddle
class Twice(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2.0

    @staticmethod
    def backward(ctx, grad):
        return grad * 2.0


x = paddle.to_tensor([0.5, 1.0], stop_gradient=False)
h = x * 1.0
y = Twice.apply(h)
h.scale_(3.0)
y.sum().backward()
