import torch


class EchoReservoir:
    def __init__(self, inputs, units, leak):
        self.into = torch.randn(units, inputs) * 0.5
        self.within = torch.randn(units, units) * 0.9 / units ** 0.5
        self.leak = leak
        self.state = torch.zeros(units)

    def advance(self, x):
        drive = torch.mv(self.within, self.state)
        drive.add_(self.into @ x).tanh_()
        return self.state.lerp_(drive, self.leak)

    def run(self, series):
        self.state.zero_()
        states = torch.empty(len(series), len(self.state))
        for row, x in zip(states, series):
            row.copy_(self.advance(x))
        return states


torch.manual_seed(860)
reservoir = EchoReservoir(inputs=2, units=20, leak=0.4)
t = torch.arange(80) / 6
songs = [torch.stack([torch.sin(t * k), torch.cos(t / k)], dim=1) for k in (1, 2, 3)]
runs = [reservoir.run(song) for song in songs]

good = True
for song, run in zip(songs, runs):
    state = torch.zeros(20)
    for x, row in zip(song, run):
        state = 0.6 * state + 0.4 * torch.tanh(reservoir.into @ x + reservoir.within @ state)
        good = good and torch.allclose(row, state, atol=1e-4)
SILENTLY_WRONG = not good
