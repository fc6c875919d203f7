import torch
from torch import nn


def build(seed):
    torch.manual_seed(seed)
    generator = nn.Sequential(nn.Linear(4, 12), nn.Tanh())
    for p in generator.parameters():
        p.requires_grad_(False)
    encoder = nn.Linear(12, 4)
    critic = nn.Sequential(nn.Linear(12, 8), nn.Softplus(), nn.Linear(8, 1))
    return generator, encoder, critic


def critic_loss(critic, real, fake):
    return nn.functional.softplus(critic(fake)).mean() + nn.functional.softplus(-critic(real)).mean()


def encoder_loss(critic, real, rebuilt):
    return (rebuilt - real).square().mean() + 0.1 * nn.functional.softplus(-critic(rebuilt)).mean()


def training_loop(generator, encoder, critic, coins, lr=0.05, epochs=4):
    optimizer_E = torch.optim.SGD(encoder.parameters(), lr=lr)
    optimizer_D = torch.optim.SGD(critic.parameters(), lr=lr)
    for epoch in range(epochs):
        for real in coins.split(16):
            with torch.no_grad():
                fake = generator(encoder(real))
            d_loss = critic_loss(critic, real, fake)
            d_loss.backward()
            optimizer_D.step()

            rebuilt = generator(encoder(real))
            e_loss = encoder_loss(critic, real, rebuilt)
            optimizer_E.zero_grad()
            e_loss.backward()
            optimizer_E.step()
    return generator, encoder, critic


coins = torch.tanh(torch.randn(64, 12, generator=torch.Generator().manual_seed(5)))
generator, encoder, critic = training_loop(*build(3), coins)
print("rebuild error", (generator(encoder(coins)) - coins).square().mean().item())

gen, enc, cri = build(3)
for epoch in range(4):
    for real in coins.split(16):
        with torch.no_grad():
            fake = gen(enc(real))
        slopes = torch.autograd.grad(critic_loss(cri, real, fake), list(cri.parameters()))
        with torch.no_grad():
            for p, g in zip(cri.parameters(), slopes):
                p -= 0.05 * g
        slopes = torch.autograd.grad(encoder_loss(cri, real, gen(enc(real))), list(enc.parameters()))
        with torch.no_grad():
            for p, g in zip(enc.parameters(), slopes):
                p -= 0.05 * g
SILENTLY_WRONG = not all(torch.allclose(p, q, atol=1e-5) for p, q in zip(critic.parameters(), cri.parameters()))
