"""A mistake that people make, for each exercise: as an answer, or as a change to the program of the exercise."""

from __future__ import annotations

ANSWERS = {
    "1.1": 'answer = {"a", "b"}',
    "1.2": "def bump(x):\n    x = x + 1\n    return x",
    "2.1": 'answer = {2: "ordinary", 3: "view", 4: "view", 5: "in-place", 6: "view", 7: "in-place", 8: "in-place"}',
    "2.2": "def double_first_column(m):\n    m[:, 0] = m[:, 0] * 2",
    "3.1": 'answer = {"b", "c", "d"}',
    "4.1": 'answer = {"a", "d", "e"}',
    "5.1": 'answer = {"saved": 3, "overwritten": 4}',
    "6.1": "def sgd_step(parameters, lr):\n    for p in parameters:\n        p -= lr * p.grad",
    "8.1": 'answer = {"x": 1, "row": 0, "flat": 0, "cut": 0, "data": 2, "copy": 0}',
    "9.1": 'answer = {"relu", "dropout", "silu"}',
}
CHANGES = {
    "3.2": ("h = F.relu(h, inplace=True)", "h = F.relu(h)"),
    "4.2": ("return w * 3", "return w.mul_(3)"),
    "5.2": ("state *= 0.5", "state.data *= 0.5"),
    "6.2": ("critic(features)", "critic(features.detach())"),
    "7.1": ("x + block(x)", "x.view_as(x) + block(x)"),
    "7.2": ("gate.data.clamp_", "gate.clamp_"),
    "8.2": ("decay * out[t - 1]", "decay * out[t - 1].detach()"),
    "9.2": ("h = torch.relu(h)", "h = torch.relu_(h)"),
    "10.1": ("weights *= keep", "weights = weights.detach() * keep"),
    "10.2": ("noise += size * noise.grad.sign()", "noise = noise + size * noise.grad.sign()"),
    "10.3": ("log_std.clamp_", "log_std.data.clamp_"),
    "10.4": ("p.data.clamp_", "p.detach().clamp_"),
    "10.5": ("prices[:, :1]", "prices[:, :1].detach()"),
    "10.6": ("return mask", "return mask.clone()"),
    "10.7": ("grad.mul_(0.1)", "grad.mul_(0.1).clone()"),
    "10.8": ("return tokens, labels", "return tokens, labels.clone()"),
    "10.9": ("torch.stack(path)", "torch.stack([each.clone() for each in path])"),
    "10.10": ("best = model.state_dict()", "best = dict(model.state_dict())"),
}
