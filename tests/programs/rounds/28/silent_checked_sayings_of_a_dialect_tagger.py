import copy
import random

import torch
from torch import nn


def one_pass(tagger, optimizer, sayings, train):
    if train:
        random.Random(5).shuffle(sayings)
    tagger.train(train)
    total, right = 0.0, 0
    for words, tag in sayings:
        scores = tagger(words[None])
        loss = nn.functional.cross_entropy(scores, tag)
        total += loss.item()
        right += int(scores.argmax() == tag)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return total / len(sayings), right / len(sayings)


torch.manual_seed(14)
made = [torch.randint(30, (n % 5 + 2,)) for n in range(60)]
sayings = [(words, (words < 15).float().mean().round().long()[None]) for words in made]
known, dev = sayings[:40], sayings[40:]
tagger = nn.Sequential(nn.EmbeddingBag(30, 6), nn.Linear(6, 2))
plain = copy.deepcopy(tagger)
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.3)
for _ in range(4):
    one_pass(tagger, optimizer, known, train=True)
    dev_loss, dev_right = one_pass(tagger, optimizer, dev, train=False)
print("loss and hits on sayings not learnt", dev_loss, dev_right)

order = sayings[:40]
for _ in range(4):
    random.Random(5).shuffle(order)
    for words, tag in order:
        grads = torch.autograd.grad(nn.functional.cross_entropy(plain(words[None]), tag), list(plain.parameters()))
        for p, g in zip(plain.parameters(), grads, strict=True):
            p.data -= 0.3 * g
fair = torch.stack([nn.functional.cross_entropy(plain(words[None]), tag) for words, tag in dev]).mean()
SILENTLY_WRONG = not torch.allclose(torch.tensor(dev_loss), fair, atol=1e-3)
