import torch
from torch import nn


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 6), nn.ReLU(), nn.Linear(6, outputs))


def update_params(optimizer, network, loss, grad_clip=None):
    optimizer.zero_grad()
    loss.backward()
    if grad_clip is not None:
        nn.utils.clip_grad_norm_(network.parameters(), grad_clip)
    optimizer.step()


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy, self.q1, self.q2 = mlp(4, 2), mlp(6, 1), mlp(6, 1)

    def critics(self, states, actions):
        pairs = torch.cat([states, actions], dim=1)
        return self.q1(pairs), self.q2(pairs)

    def critic_loss(self, batch):
        first, second = self.critics(batch["states"], batch["actions"])
        return (first - batch["targets"]).pow(2).mean(), (second - batch["targets"]).pow(2).mean()

    def policy_loss(self, batch):
        return -torch.min(*self.critics(batch["states"], self.policy(batch["states"]).tanh())).mean()


torch.manual_seed(1)
learner = Learner()
optimizers = [torch.optim.Adam(part.parameters(), lr=0.01) for part in (learner.q1, learner.q2, learner.policy)]
batch = {"states": torch.randn(5, 4), "actions": torch.rand(5, 2), "targets": torch.randn(5, 1)}
for _ in range(2):
    q1_loss, q2_loss = learner.critic_loss(batch)
    policy_loss = learner.policy_loss(batch)
    update_params(optimizers[0], learner.q1, q1_loss, 1.0)
    update_params(optimizers[1], learner.q2, q2_loss, 1.0)
    update_params(optimizers[2], learner.policy, policy_loss)
