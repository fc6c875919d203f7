"""Setups of programs that train."""

from __future__ import annotations

DATA = """
data = [(x, x.sum(1, keepdim=True)) for x in torch.randn(12, 16, 3)]
def network(layer=nn.Tanh):
    return nn.Sequential(nn.Linear(3, 8), layer(), nn.Linear(8, 1))
def normed():
    return network(lambda: nn.BatchNorm1d(8))
def loss_of(out, y):
    return (out - y).square().mean()
def stepped(model, opt, x, y):
    opt.zero_grad()
    loss_of(model(x), y).backward()
    opt.step()
"""
AVERAGE = """
        class Average:
            def __init__(self, model):
                self.model, self.kept = model, {}
                self.shadow = {name: p.data.clone() for name, p in model.named_parameters()}
            def update(self):
                for name, p in self.model.named_parameters():
                    mixed = 0.1 * p.data + 0.9 * self.shadow[name]
                    self.shadow[name] = mixed.clone()
            def put_in(self):
                for name, p in self.model.named_parameters():
                    self.kept[name] = p.data
                    p.data = self.shadow[name]
            def put_back(self):
                for name, p in self.model.named_parameters():
                    p.data = self.kept[name]
        model = network()
        opt, average = torch.optim.Adam(model.parameters()), Average(model)
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            average.update()
            if i % 4 == 3:
                average.put_in()
                with torch.no_grad():
                    print(loss_of(model(x), y).item())
"""
