import torch
import torch.nn as nn

torch.manual_seed(0)
critic = nn.Sequential(
    nn.Linear(3, 8), nn.Softplus(), nn.LayerNorm(8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 1)
)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
for step in range(2):
    real, fake = torch.randn(6, 3), torch.randn(6, 3)
    mix = torch.rand(6, 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    score = critic(between)
    grad = torch.autograd.grad(score.sum(), between, create_graph=True)[0]
    penalty = (grad.norm(dim=1) - 1).pow(2).mean()
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
