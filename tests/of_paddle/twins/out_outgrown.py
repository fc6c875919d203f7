table, record = paddle.ones([3, 4]), paddle.full([6], 2.0)

# Bad
paddle.add(record, record, out=table[1])
shown = table.sum()

# Good
table[1] = record[:4] + record[:4]
shown = table.sum()
