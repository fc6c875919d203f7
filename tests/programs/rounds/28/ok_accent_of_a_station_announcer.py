import torch
from torch import nn


class SmallLinear(nn.Module):
    def __init__(self, width_in, width_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width_out, width_in), requires_grad=False)
        self.register_buffer("small", torch.zeros(width_out, width_in, dtype=torch.int8))
        self.register_buffer("scale", torch.zeros(width_out, 1))
        self.pack()

    def pack(self):
        self.scale.copy_(self.weight.abs().amax(dim=1, keepdim=True) / 127)
        self.small.copy_((self.weight / self.scale).round())

    def change(self, delta):
        self.weight += delta
        self.pack()

    def forward(self, x):
        return x @ (self.small * self.scale).T


torch.manual_seed(43)
layer = SmallLinear(6, 4)
plain = layer.weight.clone()
accents = {"north": torch.randn(4, 6), "south": torch.randn(4, 6)}
text = torch.randn(3, 6)
spoken = []
for accent in accents.values():
    layer.change(accent)
    spoken.append(layer(text))
    layer.change(-accent)
print("first sounds", [s[0].tolist() for s in spoken])

expected = [text @ (plain + accent).T for accent in accents.values()]
SILENTLY_WRONG = not torch.allclose(torch.stack(spoken), torch.stack(expected), atol=0.3)
