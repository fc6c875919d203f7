from paddle.autograd import PyLayer

log, w = [], paddle.ones([3])
w.stop_gradient = False

# Bad
class Noted(PyLayer):
    @staticmethod
    def forward(ctx, weight):
        return weight * 1.0

    @staticmethod
    def backward(ctx, grad):
        log.append(grad.detach())
        return grad


for k in (1.0, 2.0, 4.0):
    (Noted.apply(w) * k).sum().backward()
kept = paddle.stack(log)

# Good
class Noted(PyLayer):
    @staticmethod
    def forward(ctx, weight):
        return weight * 1.0

    @staticmethod
    def backward(ctx, grad):
        log.append(grad.clone())
        return grad


for k in (1.0, 2.0, 4.0):
    (Noted.apply(w) * k).sum().backward()
kept = paddle.stack(log)
