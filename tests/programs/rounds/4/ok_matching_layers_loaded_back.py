import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self, words, tags):
        super().__init__()
        self.embedding = nn.Embedding(words, 6)
        self.encoder = nn.Linear(6, 6)
        self.head = nn.Linear(6, tags)

    def forward(self, ids):
        return self.head(torch.tanh(self.encoder(self.embedding(ids))))


def load_matching(model, checkpoint):
    own = model.state_dict()
    for name, tensor in checkpoint.items():
        if name in own and own[name].shape == tensor.shape:
            own[name] = tensor
    model.load_state_dict(own)
    with torch.no_grad():
        model.head.weight.mul_(0.1)


torch.manual_seed(30)
source, model = Tagger(20, 9), Tagger(20, 4)
checkpoint = {name: tensor.clone() for name, tensor in source.state_dict().items()}
head = model.head.weight.detach().clone()
load_matching(model, checkpoint)

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ids = torch.randint(0, 20, (8,))
hidden = torch.tanh(source.encoder(source.embedding(ids)))
expected = hidden @ (0.1 * head).t() + model.head.bias
same = torch.allclose(model(ids), expected, atol=1e-6)

model(ids).pow(2).sum().backward()
optimizer.step()
apart = torch.equal(source.encoder.weight, checkpoint["encoder.weight"])
SILENTLY_WRONG = not (same and apart)
