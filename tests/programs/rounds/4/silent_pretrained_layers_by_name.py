import torch
import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Linear(10, 16)
        self.body = nn.Linear(16, 16)
        self.head = nn.Linear(16, classes)

    def features(self, x):
        return torch.relu(self.body(torch.relu(self.stem(x))))

    def forward(self, x):
        return self.head(self.features(x))


def load_matching(model, checkpoint):
    own = model.state_dict()
    taken = []
    for name, tensor in checkpoint.items():
        if name in own and own[name].shape == tensor.shape:
            own[name] = tensor
            taken.append(name)
    return taken


def main():
    torch.manual_seed(10)
    source = Classifier(100)
    checkpoint = {k: v.clone() for k, v in source.state_dict().items()}
    model = Classifier(5)
    taken = load_matching(model, checkpoint)
    assert len(taken) == 4
    x = torch.randn(6, 10)
    return model.features(x), source.features(x)


features, expected = main()
SILENTLY_WRONG = not torch.allclose(features, expected)
