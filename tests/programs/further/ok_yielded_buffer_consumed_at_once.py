import torch


def rollout(initial, transition, steps):
    state = initial.clone()
    for _ in range(steps):
        state.copy_(transition @ state)
        yield state


torch.manual_seed(0)
transition = torch.tensor([[0.9, 0.2], [-0.2, 0.9]])
energy, frames = [], []
for state in rollout(torch.tensor([1.0, 0.0]), transition, 4):
    energy.append(state.pow(2).sum().item())
    frames.append(state.clone())
trajectory = torch.stack(frames)
assert torch.allclose(trajectory[0], transition[:, 0])
