import numpy as np
import torch
import torch.nn as nn


class Ferries:
    """Several ferries crossing at once; one array is reused for what they see."""

    def __init__(self, places, stream):
        self.seen = places.astype(np.float32)
        self.stream = stream

    def step(self, turns):
        self.seen[:, 0] += 0.5 * turns + self.stream
        self.seen[:, 1] += 0.2
        return self.seen, -np.abs(self.seen[:, 0])


def crossing(helm, ferries, steps):
    """Plays one crossing and gives the loss of the policy gradient."""
    logs, rewards = [], []
    seen = ferries.seen
    for _ in range(steps):
        scores = helm(torch.from_numpy(seen)).log_softmax(dim=1)
        turns = scores.argmax(dim=1)
        logs.append(scores.gather(1, turns[:, None]).squeeze(1))
        seen, reward = ferries.step(turns.numpy() - 1)
        rewards.append(torch.tensor(reward))
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    returns = (returns - returns.mean()) / returns.std()
    return -(torch.stack(logs) * returns).mean()


def improve(helm, ferries, steps, rate):
    optimizer = torch.optim.SGD(helm.parameters(), lr=rate)
    loss = crossing(helm, ferries, steps)
    loss.backward()
    optimizer.step()
    return loss.item()


torch.manual_seed(194)
helm = nn.Linear(2, 3)
weight, bias = helm.weight.detach().clone(), helm.bias.detach().clone()
places = np.array([[-1.0, 0.0], [0.3, 0.2], [1.2, -0.4], [0.1, 0.6]])
improve(helm, Ferries(places.copy(), stream=0.1), steps=6, rate=0.5)

seen, rows, turned, rewards = torch.tensor(places, dtype=torch.float32), [], [], []
for _ in range(6):
    turn = (seen @ weight.T + bias).argmax(1)
    rows, turned = rows + [seen], turned + [turn]
    seen = seen + torch.stack([0.5 * (turn - 1) + 0.1, torch.full((4,), 0.2)], dim=1)
    rewards.append(-seen[:, 0].abs())
returns = torch.stack([torch.stack(rewards[t:]).sum(0) for t in range(6)])
worth = ((returns - returns.mean()) / returns.std()).flatten() / 24
x, turn = torch.cat(rows), torch.cat(turned)
pull = (nn.functional.one_hot(turn, 3) - (x @ weight.T + bias).softmax(1)) * worth[:, None]
SILENTLY_WRONG = not torch.allclose(helm.weight, weight + 0.5 * pull.T @ x, atol=1e-4)
