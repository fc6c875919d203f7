import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class EvolutionStrategy:
    def __init__(self, model, sigma=0.1, lr=0.2):
        self.model = model
        self.mean = parameters_to_vector(model.parameters()).detach()
        self.sigma = sigma
        self.lr = lr

    def polish(self, x, y, step=0.01):
        loss = (self.model(x) - y).square().mean()
        with torch.no_grad():
            for p, g in zip(self.model.parameters(), torch.autograd.grad(loss, list(self.model.parameters()))):
                p -= step * g
            return -(self.model(x) - y).square().mean()

    def generation(self, noise, x, y):
        rewards = torch.empty(len(noise))
        for i, eps in enumerate(noise):
            vector_to_parameters(self.mean + self.sigma * eps, self.model.parameters())
            rewards[i] = self.polish(x, y)
        rewards -= rewards.mean()
        self.mean += self.lr / (len(noise) * self.sigma) * (rewards @ noise)
        vector_to_parameters(self.mean.clone(), self.model.parameters())


torch.manual_seed(0)
x, y = torch.randn(12, 3), torch.randn(12, 1)
model = nn.Linear(3, 1)
start = torch.cat([model.weight.detach().flatten(), model.bias.detach()])
noise = torch.randn(6, 4)
es = EvolutionStrategy(model)
es.generation(noise, x, y)

features = torch.cat([x, torch.ones(12, 1)], 1)
scores = []
for theta in start + 0.1 * noise:
    theta = theta - 0.01 * 2 / 12 * features.t() @ (features @ theta - y[:, 0])
    scores.append(-(features @ theta - y[:, 0]).square().mean())
scores = torch.stack(scores)
expected = start + 0.2 / 0.6 * (scores - scores.mean()) @ noise
SILENTLY_WRONG = not torch.allclose(parameters_to_vector(model.parameters()), expected, atol=1e-5)
