import torch
import torch.nn as nn


def wave(position, width):
    rate = 30.0 ** (-torch.arange(width // 2) / (width // 2))
    angle = position[:, None] * rate
    return torch.cat([angle.sin(), angle.cos()], dim=1)


class Layer(nn.Module):
    def __init__(self, width, legs_only):
        super().__init__()
        self.mix, self.legs_only = nn.Linear(width, width), legs_only

    def forward(self, tokens, position, legs):
        if not self.legs_only:
            return tokens + torch.tanh(self.mix(tokens + wave(position, tokens.shape[1])))
        own = position[legs]
        own -= own.min()
        moved = tokens[legs] + torch.tanh(self.mix(tokens[legs] + wave(own, tokens.shape[1])))
        return tokens.index_copy(0, legs, moved)


class Walker(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width, k % 2 == 1) for k in range(depth))

    def forward(self, tokens, legs):
        position = torch.arange(len(tokens), dtype=torch.float32)
        for layer in self.layers:
            tokens = layer(tokens, position, legs)
        return tokens


torch.manual_seed(2)
walker, given, legs = Walker(6, 5), torch.randn(9, 6), torch.tensor([5, 6, 7, 8])
with torch.no_grad():
    found = walker(given, legs)

    tokens = given
    for k, layer in enumerate(walker.layers):
        clock = torch.arange(9.0) if k % 2 == 0 else torch.arange(-5.0, 4.0)
        moved = tokens + torch.tanh((tokens + wave(clock, 6)) @ layer.mix.weight.T + layer.mix.bias)
        tokens = moved if k % 2 == 0 else torch.cat([tokens[:5], moved[5:]])
SILENTLY_WRONG = not torch.allclose(found, tokens, atol=1e-5)
