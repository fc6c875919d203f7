import copy

import torch
import torch.nn as nn


def critic_round(critic, optimizer, real, fake, bound=0.3):
    optimizer.zero_grad()
    loss = critic(fake).mean() - critic(real).mean()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p in critic.parameters():
            p.clamp_(-bound, bound)
    return loss.item()


def generator_round(generator, critic, optimizer, noise):
    optimizer.zero_grad()
    loss = -critic(generator(noise)).mean()
    loss.backward()
    optimizer.step()


torch.manual_seed(21)
generator, critic = nn.Linear(2, 3), nn.Linear(3, 1)
check_g, check_c = copy.deepcopy(generator), copy.deepcopy(critic)
opt_g = torch.optim.SGD(generator.parameters(), lr=0.2)
opt_c = torch.optim.SGD(critic.parameters(), lr=0.2)
batches = [(torch.randn(8, 3) + 2, torch.randn(8, 2)) for _ in range(6)]

for step in range(3):
    for real, noise in batches:
        critic_round(critic, opt_c, real, generator(noise).detach())
    generator_round(generator, critic, opt_g, noise)

    for real, noise in batches:
        fake = check_g(noise)
        grads = torch.autograd.grad(check_c(fake).mean() - check_c(real).mean(), list(check_c.parameters()))
        values = [(p - 0.2 * g).clamp(-0.3, 0.3).detach() for p, g in zip(check_c.parameters(), grads)]
        nn.utils.vector_to_parameters(torch.cat([v.reshape(-1) for v in values]), check_c.parameters())
    grads = torch.autograd.grad(-check_c(check_g(noise)).mean(), list(check_g.parameters()))
    values = [(p - 0.2 * g).detach() for p, g in zip(check_g.parameters(), grads)]
    nn.utils.vector_to_parameters(torch.cat([v.reshape(-1) for v in values]), check_g.parameters())

SILENTLY_WRONG = not (torch.allclose(critic.weight, check_c.weight, atol=1e-6)
                      and torch.allclose(generator.weight, check_g.weight, atol=1e-6))
