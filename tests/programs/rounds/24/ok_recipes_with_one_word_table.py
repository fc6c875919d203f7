import torch
from torch import nn


class RecipeModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config["vocab"], config["width"])
        self.head = nn.Linear(config["width"], config["vocab"], bias=False)

    def forward(self, words):
        return self.head(self.words(words).mean(dim=1))


def tie_weights(model):
    if model.config["tie"]:
        model.head.weight = model.words.weight


def load(config, state):
    model = RecipeModel(config)
    with torch.no_grad():
        for name, param in model.named_parameters():
            if name in state:
                param.copy_(state[name])
    tie_weights(model)
    return model


torch.manual_seed(33)
state = {"words.weight": torch.randn(12, 5)}
model = load({"vocab": 12, "width": 5, "tie": True}, state)
words = torch.randint(0, 12, (8, 3))
following = torch.randint(0, 12, (8,))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
loss = nn.functional.cross_entropy(model(words), following)
loss.backward()
optimizer.step()
print("parameters", sum(p.numel() for p in model.parameters()), "loss", loss.item())

table = state["words.weight"]
mean = table[words].mean(dim=1)
slope = ((mean @ table.T).softmax(dim=1) - nn.functional.one_hot(following, 12)) / 8
grad = slope.T @ mean
back = (slope @ table) / 3
for row, line in enumerate(words.tolist()):
    for word in line:
        grad[word] += back[row]
SILENTLY_WRONG = not torch.allclose(model.words.weight, table - 0.5 * grad, atol=1e-5)
