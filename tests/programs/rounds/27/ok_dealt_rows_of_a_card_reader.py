import torch


def deal(table, dice):
    """Fisher-Yates over the rows of the table, where it lies."""
    for i in range(len(table) - 1, 0, -1):
        j = int(torch.randint(0, i + 1, (1,), generator=dice))
        table[[i, j]] = table[[j, i]]
    return table


def turn_pairs(hand, pairs):
    for a, b in pairs:
        keep = hand[a].clone()
        hand[a] = hand[b]
        hand[b] = keep
    return hand


cards = torch.stack([torch.arange(20), torch.arange(20) % 4, torch.arange(20) % 5], dim=1)
table = deal(cards.clone(), torch.Generator().manual_seed(48))
hand = turn_pairs(table[:6].clone(), [(0, 5), (2, 3)])
print("hand", hand[:, 0].tolist())

dice = torch.Generator().manual_seed(48)
order = list(range(20))
for i in range(19, 0, -1):
    j = int(torch.randint(0, i + 1, (1,), generator=dice))
    order[i], order[j] = order[j], order[i]
wanted = [order[k] for k in (5, 1, 3, 2, 4, 0)]
SILENTLY_WRONG = table[:, 0].tolist() != order or [tuple(r) for r in hand.tolist()] != [(k, k % 4, k % 5) for k in wanted]
