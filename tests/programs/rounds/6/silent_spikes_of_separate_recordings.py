import torch
import torch.nn as nn


class LeakyNeurons(nn.Module):
    def __init__(self, inputs, neurons, leak=0.8, threshold=1.0):
        super().__init__()
        self.leak, self.threshold = leak, threshold
        self.synapses = nn.Linear(inputs, neurons, bias=False)

    def forward(self, current, state={}):
        if "membrane" not in state:
            state["membrane"] = torch.zeros(current.shape[0], self.synapses.out_features)
        membrane = state["membrane"]
        spikes = []
        for frame in current.unbind(dim=1):
            membrane.mul_(self.leak).add_(self.synapses(frame))
            fired = membrane >= self.threshold
            membrane[fired] -= self.threshold
            spikes.append(fired)
        return torch.stack(spikes, dim=1), state


torch.manual_seed(612)
layer = LeakyNeurons(4, 6)
layer.synapses.weight.data.uniform_(0.0, 0.6)
recordings = [torch.rand(3, 10, 4) for _ in range(5)]
counts = []
with torch.no_grad():
    for recording in recordings:
        spikes, _ = layer(recording)
        counts.append(spikes.sum(dim=1))

    expected = []
    for recording in recordings:
        v, n = torch.zeros(3, 6), torch.zeros(3, 6, dtype=torch.long)
        for t in range(10):
            v = 0.8 * v + recording[:, t] @ layer.synapses.weight.t()
            n = n + (v >= 1.0)
            v = torch.where(v >= 1.0, v - 1.0, v)
        expected.append(n)
SILENTLY_WRONG = not torch.equal(torch.stack(counts), torch.stack(expected))
