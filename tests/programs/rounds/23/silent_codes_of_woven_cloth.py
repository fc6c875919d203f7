import torch
from torch import nn


class ClothModule(nn.Module):
    """Autoencoder of cloth patches and a head that reads the thread count from the code."""

    def __init__(self, accumulate_grad_batches):
        super().__init__()
        self.encoder, self.decoder, self.head = nn.Linear(12, 4), nn.Linear(4, 12), nn.Linear(4, 1)
        self.accumulate_grad_batches = accumulate_grad_batches

    def configure_optimizers(self):
        coder = list(self.encoder.parameters()) + list(self.decoder.parameters())
        self.g_opt = torch.optim.SGD(coder, lr=0.2)
        self.h_opt = torch.optim.SGD(self.head.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        patch, threads = batch
        code = torch.tanh(self.encoder(patch))
        loss = nn.functional.mse_loss(self.decoder(code), patch) / self.accumulate_grad_batches
        self.g_opt.zero_grad()
        loss.backward()
        if (batch_idx + 1) % self.accumulate_grad_batches == 0:
            self.g_opt.step()

        count_loss = nn.functional.mse_loss(self.head(code.detach()), threads) / self.accumulate_grad_batches
        self.h_opt.zero_grad()
        count_loss.backward()
        if (batch_idx + 1) % self.accumulate_grad_batches == 0:
            self.h_opt.step()


torch.manual_seed(8)
patches = torch.randn(96, 12, dtype=torch.float64)
threads = patches[:, :3].sum(1, keepdim=True)
module = ClothModule(accumulate_grad_batches=4).double()
module.configure_optimizers()
start = [p.detach().clone() for p in module.parameters()]
for epoch in range(5):
    for k in range(24):
        module.training_step((patches[4 * k:4 * k + 4], threads[4 * k:4 * k + 4]), k)
print("thread counts read", module.head(torch.tanh(module.encoder(patches[:4]))).tolist())

w = [p.requires_grad_() for p in start]
for _ in range(5):
    for x, t in zip(patches.split(16), threads.split(16)):
        code = torch.tanh(x @ w[0].T + w[1])
        coder = ((code @ w[2].T + w[3] - x) ** 2).mean()
        counts = ((code.detach() @ w[4].T + w[5] - t) ** 2).mean()
        slopes = torch.autograd.grad(coder, w[:4]) + torch.autograd.grad(counts, w[4:])
        w = [(p - r * s).detach().requires_grad_() for p, s, r in zip(w, slopes, [0.2] * 4 + [0.1] * 2)]
SILENTLY_WRONG = not all(torch.allclose(p, q, atol=1e-9) for p, q in zip(module.parameters(), w))
