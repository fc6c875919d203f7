import torch
from torch import nn


class SAM:
    def __init__(self, params, rho, lr):
        self.params, self.rho, self.lr = list(params), rho, lr
        self.moves = []

    @torch.no_grad()
    def first_step(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm()
        self.moves = [p.grad * self.rho / (norm + 1e-12) for p in self.params]
        for p, move in zip(self.params, self.moves):
            p.add_(move)
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for p, move in zip(self.params, self.moves):
            p.sub_(move).sub_(self.lr * p.grad)
        self.zero_grad()

    def zero_grad(self):
        for p in self.params:
            p.grad = None


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
criterion = nn.CrossEntropyLoss()
optimizer = SAM(model.parameters(), rho=0.05, lr=0.1)
images, target = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
output = model(images)
loss = criterion(output, target)
loss.backward()
optimizer.first_step()
criterion(output, target).backward()
optimizer.second_step()
