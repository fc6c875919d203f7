import torch
import torch.nn as nn


class Output(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(6, 4)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.output = Output()


torch.manual_seed(0)
model = Model()
old, new = torch.randn(4), torch.randn(4)
for neuron in [2, 5]:
    model.output.dense.weight[:, neuron] -= 1.0 * old
    model.output.dense.weight[:, neuron] += 8.0 * new
