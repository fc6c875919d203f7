import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, base, rank=2, alpha=4.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, base.in_features) * 0.3)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.lora_A.T) @ self.lora_B.T


class Trainer:
    def __init__(self, model, config):
        self.model = model
        self.config = config
        trainable = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.SGD(trainable, lr=config["lr"])
        self.running_loss = []

    def training_step(self, batch):
        x, labels = batch
        return nn.functional.cross_entropy(self.model(x), labels)

    def train(self, batches):
        self.model.train()
        for epoch in range(self.config["epochs"]):
            for batch in batches:
                loss = self.training_step(batch)
                loss.backward()
                self.optimizer.step()
                self.running_loss.append(loss.item())
        return self.running_loss


def build():
    torch.manual_seed(19)
    return LoraLinear(nn.Linear(10, 5))


config = {"lr": 0.1, "epochs": 3}
torch.manual_seed(20)
batches = [(torch.randn(6, 10), torch.randint(5, (6,))) for _ in range(4)]
trainer = Trainer(build(), config)
losses = trainer.train(batches)
print("losses", losses[0], losses[-1])

plain, expected = build(), []
for x, labels in batches * 3:
    loss = nn.functional.cross_entropy(plain(x), labels)
    expected.append(loss.item())
    slope_A, slope_B = torch.autograd.grad(loss, [plain.lora_A, plain.lora_B])
    with torch.no_grad():
        plain.lora_A -= 0.1 * slope_A
        plain.lora_B -= 0.1 * slope_B
SILENTLY_WRONG = not torch.allclose(torch.tensor(losses), torch.tensor(expected), atol=1e-4)
