import torch


def shuffled(table, dice):
    """Fisher-Yates over the rows."""
    table = table.clone()
    for i in range(len(table) - 1, 0, -1):
        j = int(torch.randint(0, i + 1, (1,), generator=dice))
        if i != j:
            table[i], table[j] = table[j], table[i]
    return table


def permutation_test(angle, distance, rounds, seed):
    """How often do dances in random order fit the distances as well as the true ones?"""
    dice = torch.Generator().manual_seed(seed)
    score = (angle * distance).sum()
    hits = 0
    spread = []
    for _ in range(rounds):
        mixed = shuffled(angle, dice)
        hits += int((mixed * distance).sum() >= score)
        spread.append(mixed.var())
    return (hits + 1) / (rounds + 1), torch.stack(spread)


torch.manual_seed(5)
distance = torch.rand(15, 1)
angle = 0.8 * distance + 0.4 * torch.randn(15, 1)
chance, spread = permutation_test(angle, distance, rounds=60, seed=2)
print("chance", round(chance, 4), "spread of the dances", float(spread.mean()))

dice = torch.Generator().manual_seed(2)
best, hits = float((angle * distance).sum()), 0
for _ in range(60):
    order = list(range(15))
    for i in range(14, 0, -1):
        j = int(torch.randint(0, i + 1, (1,), generator=dice))
        order[i], order[j] = order[j], order[i]
    hits += sum(float(angle[k]) * float(d) for k, d in zip(order, distance)) >= best - 1e-7
SILENTLY_WRONG = not torch.allclose(spread, angle.var().expand(60), atol=1e-5) or hits + 1 != round(chance * 61)
