import numpy as np
import torch
import torch.nn as nn


class Tugs:
    """Several tugs in a stream; one array is reused for what they see."""

    def __init__(self, places, stream):
        self.seen = places.astype(np.float32)
        self.stream = stream

    def step(self, turns):
        self.seen[:, 0] += 0.4 * turns - self.stream
        self.seen[:, 1] *= 0.9
        return self.seen, -np.square(self.seen).sum(axis=1)


def tow(helm, tugs, steps):
    seen, inputs, turned, rewards = tugs.seen, [], [], []
    for _ in range(steps):
        with torch.no_grad():
            turns = helm(torch.from_numpy(seen)).argmax(dim=1)
        inputs.append(torch.tensor(seen))
        turned.append(turns)
        seen, reward = tugs.step(turns.numpy() - 1)
        rewards.append(torch.from_numpy(reward))
    logs = helm(torch.stack(inputs)).log_softmax(dim=-1)
    chosen = logs.gather(2, torch.stack(turned)[..., None]).squeeze(2)
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    returns -= returns.mean()
    return -(chosen * returns).mean()


def improve(helm, tugs, steps, rate):
    loss = tow(helm, tugs, steps)
    loss.backward()
    with torch.no_grad():
        for p in helm.parameters():
            p.sub_(p.grad, alpha=rate)
    return loss.item()


torch.manual_seed(294)
helm = nn.Linear(2, 3)
weight, bias = helm.weight.detach().clone(), helm.bias.detach().clone()
places = np.array([[1.0, 0.5], [-0.4, 0.8], [0.2, -1.0]])
improve(helm, Tugs(places.copy(), stream=0.15), steps=5, rate=0.3)

seen, rows, turned, rewards = torch.tensor(places, dtype=torch.float32), [], [], []
for _ in range(5):
    turn = (seen @ weight.T + bias).argmax(1)
    rows, turned = rows + [seen], turned + [turn]
    seen = torch.stack([seen[:, 0] + 0.4 * (turn - 1) - 0.15, 0.9 * seen[:, 1]], dim=1)
    rewards.append(-(seen ** 2).sum(1))
returns = torch.stack([sum(rewards[t:]) for t in range(5)])
worth = (returns - returns.mean()).flatten() / 15
x, turn = torch.cat(rows), torch.cat(turned)
pull = (nn.functional.one_hot(turn, 3) - (x @ weight.T + bias).softmax(1)) * worth[:, None]
SILENTLY_WRONG = not torch.allclose(helm.weight, weight + 0.3 * pull.T @ x, atol=1e-4)
