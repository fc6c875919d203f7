import torch
import torch.nn as nn
from torch.func import functional_call


def adapt_statistics(model, batches):
    state = {name: value.clone() for name, value in model.state_dict().items()}
    for batch in batches:
        functional_call(model, state, (batch,))
    return state


torch.manual_seed(73)
model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3, momentum=0.2), nn.ReLU())
hospitals = [[torch.randn(10, 4) + k for _ in range(5)] for k in range(3)]

with torch.no_grad():
    states = [adapt_statistics(model, batches) for batches in hospitals]
    untouched = bool((model[1].running_mean == 0).all())
    outputs = []
    for state, batches in zip(states, hospitals):
        model.load_state_dict(state)
        model.eval()
        outputs.append(model(batches[0]))
        model.train()

    good = untouched
    for output, batches in zip(outputs, hospitals):
        mean, var = torch.zeros(3), torch.ones(3)
        for batch in batches:
            z = batch @ model[0].weight.T + model[0].bias
            mean, var = 0.8 * mean + 0.2 * z.mean(dim=0), 0.8 * var + 0.2 * z.var(dim=0)
        z = batches[0] @ model[0].weight.T + model[0].bias
        good = good and torch.allclose(output, ((z - mean) / (var + 1e-5).sqrt()).relu(), atol=1e-5)
SILENTLY_WRONG = not good
