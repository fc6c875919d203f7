import paddle

w = paddle.ones([3])
w.stop_gradient = False
head = w[0:2]
head.scale_(4.0)
(w * 1.5).sum().backward()
