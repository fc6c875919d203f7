import paddle

paddle.seed(0)
deltas = paddle.randn([3, 4])
deltas.stop_gradient = False
boxes = deltas + 1.0
centres = boxes[:, :2]
centres.multiply_(paddle.to_tensor([4.0, 2.0]))
boxes.sum().backward()
