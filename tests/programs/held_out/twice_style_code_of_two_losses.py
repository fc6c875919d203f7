import torch
import torch.nn.functional as F
from torch import nn


class Trainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mapping = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2))
        self.generator, self.encoder, self.critic = nn.Linear(4, 5), nn.Linear(5, 4), nn.Linear(5, 1)

    def forward(self, z):
        stylecode = self.mapping(z)
        fake = torch.tanh(self.generator(stylecode))
        adv_loss = F.softplus(-self.critic(fake)).mean()
        w_rec_loss = F.mse_loss(self.encoder(fake), stylecode)
        return adv_loss, w_rec_loss


def accumulate(model, z, weights):
    adv_loss, w_rec_loss = model(z)
    (adv_loss * weights["adv"]).backward()
    (w_rec_loss * weights["w_rec"]).backward()
    return adv_loss.item() + w_rec_loss.item()


torch.manual_seed(0)
model = Trainer()
total = accumulate(model, torch.randn(4, 3), {"adv": 1.0, "w_rec": 0.5})
