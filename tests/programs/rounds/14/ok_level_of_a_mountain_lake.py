import torch
import torch.nn as nn


class FastCell:
    def __init__(self, cell):
        self.cell = cell
        self.width = cell.hidden_size

    def gates(self, x, h):
        both = x @ self.cell.weight_ih.T
        both += self.cell.bias_ih
        both.addmm_(h, self.cell.weight_hh.T).add_(self.cell.bias_hh)
        return both.chunk(4, dim=1)

    def __call__(self, x, h, c):
        enter, forget, new, leave = self.gates(x, h)
        c.mul_(forget.sigmoid_()).addcmul_(enter.sigmoid_(), new.tanh_())
        torch.tanh(c, out=h)
        return h.mul_(leave.sigmoid_()), c


@torch.inference_mode()
def levels(cell, head, rain):
    fast = FastCell(cell)
    h, c = torch.zeros(2, rain.shape[1], fast.width)
    found = []
    for hour in rain:
        h, c = fast(hour, h, c)
        found.append(head(h).squeeze(1))
    return torch.stack(found)


torch.manual_seed(230)
cell, head = nn.LSTMCell(3, 6), nn.Linear(6, 1)
rain = torch.rand(20, 4, 3)
found = levels(cell, head, rain)

state, expected = None, []
with torch.no_grad():
    for hour in rain:
        state = cell(hour, state)
        expected.append(head(state[0]).squeeze(1))
SILENTLY_WRONG = not torch.allclose(found.clone(), torch.stack(expected), atol=1e-5)
