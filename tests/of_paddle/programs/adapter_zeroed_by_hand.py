import paddle

paddle.seed(0)
lora_a = paddle.create_parameter([3, 2], "float32")
lora_b = paddle.create_parameter([2, 3], "float32")
lora_b.zero_()
