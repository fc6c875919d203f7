import torch
import torch.nn as nn


class Listener(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.GRUCell(2, width)
        self.head = nn.Linear(width, 1)

    def forward(self, chunk, memory):
        outputs = []
        for frame in chunk:
            memory = self.cell(frame, memory)
            outputs.append(self.head(memory))
        return torch.stack(outputs), memory


def train(net, song, target, length, rate):
    memory = torch.zeros(song.shape[1], net.cell.hidden_size)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for chunk, goal in zip(song.split(length), target.split(length)):
        guess, memory = net(chunk, memory)
        optimizer.zero_grad()
        (guess - goal).square().mean().backward()
        optimizer.step()
        memory.detach_()
    return memory


torch.manual_seed(61)
song, target = torch.randn(24, 3, 2), torch.randn(24, 3, 1)
net, other = Listener(5), Listener(5)
other.load_state_dict(net.state_dict())
memory = train(net, song, target, 6, 0.1)

state = torch.zeros(3, 5)
for i in range(0, 24, 6):
    guess, state = other(song[i:i + 6], state)
    loss = (guess - target[i:i + 6]).square().mean()
    grads = torch.autograd.grad(loss, list(other.parameters()))
    for p, g in zip(other.parameters(), grads):
        p.data = p.data - 0.1 * g
    state = torch.tensor(state.tolist())
SILENTLY_WRONG = not torch.allclose(memory, state, atol=1e-5)
