import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(5, 8), nn.ReLU(inplace=True))
heads = nn.ModuleDict({"age": nn.Linear(8, 1), "kind": nn.Linear(8, 3)})
x = torch.randn(6, 5)
truth = {"age": torch.randn(6, 1), "kind": torch.randint(0, 3, (6,))}

features = trunk(x)
total = torch.zeros(())
parts = {}
for name, head in heads.items():
    out = head(features)
    part = F.cross_entropy(out, truth[name]) if name == "kind" else F.mse_loss(out, truth[name])
    parts[name] = part.item()
    total += part
total *= 0.5
total.backward()
