words = paddle.to_tensor([0])
table = paddle.to_tensor([[3.0, 4.0], [1.0, 0.0]])

# Bad
rows = paddle.nn.functional.embedding(words, table, max_norm=1.0)
lengths = table.norm(axis=1)

# Good
rows = paddle.nn.functional.embedding(words, table.clone(), max_norm=1.0)
lengths = table.norm(axis=1)
