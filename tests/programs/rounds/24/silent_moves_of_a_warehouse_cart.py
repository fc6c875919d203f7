import torch
from torch import nn


class CartTrainer:
    """Policy gradient for the moves of a cart, one step after several micro batches."""

    def __init__(self, policy, lr, accumulate):
        self.policy = policy
        self.optimizer = torch.optim.SGD(policy.parameters(), lr=lr)
        self.accumulate = accumulate

    def compute_loss(self, batch):
        logp = self.policy(batch["place"]).log_softmax(dim=1)
        taken = logp.gather(1, batch["move"].unsqueeze(1)).squeeze(1)
        ratio = (taken - batch["old_logp"]).exp()
        return -(ratio * batch["advantage"]).mean()

    def step_with_rollouts(self, rollouts):
        losses = []
        for i, batch in enumerate(rollouts):
            self.policy.zero_grad()
            loss = self.compute_loss(batch)
            (loss / self.accumulate).backward()
            losses.append(loss.item())
            if (i + 1) % self.accumulate == 0:
                self.optimizer.step()
        return losses


def collect(policy, count, size):
    rollouts = []
    for _ in range(count):
        place = torch.rand(size, 3)
        with torch.no_grad():
            logp = policy(place).log_softmax(dim=1)
        move = torch.multinomial(logp.exp(), 1).squeeze(1)
        reward = (move == place.argmax(dim=1)).float()
        rollouts.append({"place": place, "move": move, "advantage": reward - reward.mean(),
                         "old_logp": logp.gather(1, move.unsqueeze(1)).squeeze(1)})
    return rollouts


torch.manual_seed(21)
policy = nn.Linear(3, 3)
weight = policy.weight.detach().clone()
bias = policy.bias.detach().clone()
rollouts = collect(policy, count=4, size=16)
losses = CartTrainer(policy, lr=1.0, accumulate=4).step_with_rollouts(rollouts)
print("losses", losses, "weights", policy.weight.tolist())

place = torch.cat([r["place"] for r in rollouts])
move = torch.cat([r["move"] for r in rollouts])
advantage = torch.cat([r["advantage"] for r in rollouts])
share = (place @ weight.T + bias).softmax(dim=1)
slope = (nn.functional.one_hot(move, 3) - share) * advantage.unsqueeze(1) / len(move)
SILENTLY_WRONG = not torch.allclose(policy.weight, weight + slope.T @ place, atol=1e-5)
