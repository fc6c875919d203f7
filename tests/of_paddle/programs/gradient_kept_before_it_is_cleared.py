import paddle
w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
(w * w).sum().backward()
first = w.grad
w.clear_grad()
(w * 3.0).sum().backward()
second = w.grad
change = (second - first).abs().sum()
