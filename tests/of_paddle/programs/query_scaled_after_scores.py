import paddle

paddle.seed(0)
x = paddle.randn([2, 3])
x.stop_gradient = False
q = x * 1.0
k = x * 2.0
scores = paddle.matmul(q, k, transpose_y=True)
q.scale_(0.5)
(scores.sum() + q.sum()).backward()
