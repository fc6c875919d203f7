boxes = paddle.rand([4, 4])

# Bad
corners = paddle.empty([4, 4])
corners[:, 0] = boxes[:, 0] - boxes[:, 2] / 2
corners[:, 1] = boxes[:, 1] - boxes[:, 3] / 2
total = corners.sum()

# Good
corners = boxes.clone()
corners[:, 0] = boxes[:, 0] - boxes[:, 2] / 2
corners[:, 1] = boxes[:, 1] - boxes[:, 3] / 2
total = corners.sum()
