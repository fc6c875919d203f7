import paddle

paddle.seed(0)
w = paddle.randn([4])
w.stop_gradient = False
state = w * 0.1
total = paddle.zeros([4])
for step in range(3):
    total = total + state * w
    state.scale_(0.9)
total.sum().backward()
