population = paddle.arange(6, dtype="float32").reshape([3, 2])


def mutate(genes):
    genes.add_(paddle.full([2], 10.0))
    return genes


# Bad
child = mutate(population[1])
best = population.sum()

# Good
child = mutate(population[1].clone())
best = population.sum()
