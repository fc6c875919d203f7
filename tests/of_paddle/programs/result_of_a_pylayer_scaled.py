import paddle
class Exp(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        y = paddle.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensor()
        return y * grad


x = paddle.to_tensor([0.5, 1.0], stop_gradient=False)
y = Exp.apply(x)
y.scale_(2.0)
y.sum().backward()
