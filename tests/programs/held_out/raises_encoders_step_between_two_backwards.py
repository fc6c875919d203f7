import torch
from torch import nn


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.content, self.style = nn.Linear(4, 3), nn.Linear(4, 2)
        self.generator = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 4))
        self.optimizers = [torch.optim.Adam(part.parameters(), lr=1e-2) for part in self.children()]

    def forward(self, images, noise):
        self.images = images
        content = self.content(images)
        self.rebuilt = self.generator(torch.cat([content, self.style(images)], dim=1))
        self.random = self.generator(torch.cat([content, noise], dim=1))

    def backward_encoders_and_generator(self):
        loss = (self.rebuilt - self.images).abs().mean()
        loss.backward(retain_graph=True)

    def backward_generator_alone(self):
        loss = self.random.mean(0).pow(2).sum()
        loss.backward()

    def update(self):
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        self.backward_encoders_and_generator()
        for optimizer in self.optimizers:
            optimizer.step()
        self.backward_generator_alone()
        self.optimizers[-1].step()


torch.manual_seed(6)
model = Translator()
model(torch.randn(3, 4), torch.randn(3, 2))
model.update()
