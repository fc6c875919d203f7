"""The programs that are timed, of the kind that costs most: loops of many small operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Loop:
    """A loop that is run as a whole; no single forward pass of it could be handed to a tool."""

    title: str
    step: Callable[[], None]


def dqn() -> Loop:
    """20 steps of deep Q-learning: choose, act, remember, sample, learn, and let the target network follow."""
    torch.manual_seed(0)
    policy, target = (nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2))
    target.load_state_dict(policy.state_dict())
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    size = 256
    states, following, actions, rewards = (
        torch.randn(size, 4),
        torch.randn(size, 4),
        torch.zeros(size, 1),
        torch.randn(size),
    )
    actions = actions.long()

    def step() -> None:
        state = torch.randn(4)
        for number in range(20):
            with torch.no_grad():
                action = policy(state).argmax()
            after = state + 0.1 * torch.randn(4)
            states[number], following[number] = state, after
            actions[number], rewards[number] = action, -after.abs().sum()
            state = after
            batch = torch.randint(0, size, (32,))
            value = policy(states[batch]).gather(1, actions[batch]).squeeze(1)
            with torch.no_grad():
                wanted = rewards[batch] + 0.99 * target(following[batch]).max(1).values
            loss = F.smooth_l1_loss(value, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for slow, fast in zip(target.parameters(), policy.parameters(), strict=True):
                    slow.mul_(0.995).add_(fast, alpha=0.005)

    return Loop("DQN: 20 steps, batch 32, Adam", step)


def lstm_cell() -> Loop:
    """A recurrent cell called 100 times, then one backward through all of them."""
    torch.manual_seed(0)
    cell, head = nn.LSTMCell(8, 16), nn.Linear(16, 1)
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
    x, y = torch.randn(100, 4, 8), torch.randn(100, 4, 1)

    def step() -> None:
        hidden, memory = torch.zeros(4, 16), torch.zeros(4, 16)
        found = []
        for now in x:
            hidden, memory = cell(now, (hidden, memory))
            found.append(head(hidden))
        loss = F.mse_loss(torch.stack(found), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return Loop("LSTMCell over 100 steps, batch 4", step)


def message_passing() -> Loop:
    """1,000 small graphs one after the other, two rounds of messages each, a step every 20."""
    torch.manual_seed(0)
    send, keep, read = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 1)
    optimizer = torch.optim.SGD([*send.parameters(), *keep.parameters(), *read.parameters()], lr=0.01)
    graphs = [(torch.randn(6, 8), torch.randint(0, 6, (12,)), torch.randint(0, 6, (12,))) for _ in range(1000)]

    def step() -> None:
        for number, (h, origin, goal) in enumerate(graphs, 1):
            for _ in range(2):
                messages = send(h)[origin]
                h = torch.relu(keep(h) + torch.zeros_like(h).index_add_(0, goal, messages))
            (read(h).mean() - 1.0).square().backward()
            if number % 20 == 0:
                optimizer.step()
                optimizer.zero_grad()

    return Loop("message passing over 1,000 graphs of 6 nodes", step)


def functional() -> Loop:
    """20 steps of a training loop in the style of ``torch.func``: parameters in, gradients out."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    x, y = torch.randn(32, 8), torch.randn(32, 1)
    gradients = torch.func.grad(lambda parameters: F.mse_loss(torch.func.functional_call(model, parameters, (x,)), y))

    def step() -> None:
        parameters = {name: value.detach() for name, value in model.named_parameters()}
        for _ in range(20):
            found = gradients(parameters)
            parameters = {name: value - 0.01 * found[name] for name, value in parameters.items()}

    return Loop("torch.func: 20 steps of functional_call and grad", step)


def lbfgs() -> Loop:
    """A step of L-BFGS on one number: some 7,700 calls, nearly all on tensors of one element."""

    def step() -> None:
        x = torch.zeros((), requires_grad=True)
        optimizer = torch.optim.LBFGS([x], lr=0.1)

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = (x - 3).square().cosh().log()
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)

    return Loop("L-BFGS on a scalar", step)


LOOPS: dict[str, Callable[[], Loop]] = {
    "dqn": dqn,
    "lstm": lstm_cell,
    "messages": message_passing,
    "func": functional,
    "lbfgs": lbfgs,
}
