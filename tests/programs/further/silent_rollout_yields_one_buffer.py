import torch


def rollout(initial, transition, steps):
    state = initial.clone()
    for _ in range(steps):
        state.copy_(transition @ state)
        yield state


torch.manual_seed(0)
transition = torch.tensor([[0.9, 0.2], [-0.2, 0.9]])
initial = torch.tensor([1.0, 0.0])
first = transition @ initial

frames = list(rollout(initial, transition, 4))
trajectory = torch.stack(frames)
SILENTLY_WRONG = not torch.allclose(trajectory[0], first)
