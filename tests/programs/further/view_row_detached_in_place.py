import torch
import torch.nn as nn

torch.manual_seed(0)
encoder = nn.Linear(4, 6)
memory = []
for half in encoder(torch.randn(4, 4)).split(2):
    half.detach_()
    memory.append(half)
bank = torch.cat(memory)
