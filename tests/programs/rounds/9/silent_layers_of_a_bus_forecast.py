import torch
import torch.nn as nn


class DelayForecaster(nn.Module):
    def __init__(self, features, hidden, layers):
        super().__init__()
        self.hidden = hidden
        sizes = [features] + [hidden] * (layers - 1)
        self.cells = nn.ModuleList(nn.RNNCell(size, hidden) for size in sizes)
        self.delay = nn.Linear(hidden, features)

    def start(self, stops):
        return [torch.zeros(stops, self.hidden)] * len(self.cells)

    def observe(self, delays, hidden):
        layer_input = delays
        for cell, state in zip(self.cells, hidden):
            state.copy_(cell(layer_input, state))
            layer_input = state
        return self.delay(layer_input)

    @torch.no_grad()
    def forecast(self, history, horizon):
        hidden = self.start(history.shape[1])
        for delays in history:
            guess = self.observe(delays, hidden)
        guesses = []
        for _ in range(horizon):
            guesses.append(guess)
            guess = self.observe(guess, hidden)
        return torch.stack(guesses)


torch.manual_seed(915)
forecaster = DelayForecaster(features=2, hidden=7, layers=3)
history = torch.randn(9, 5, 2)
guesses = forecaster.forecast(history, horizon=4)

stacked = nn.RNN(2, 7, num_layers=3)
with torch.no_grad():
    for layer, cell in enumerate(forecaster.cells):
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(stacked, f"{name}_l{layer}").copy_(getattr(cell, name))
    output, state = stacked(history)
    expected = [forecaster.delay(output[-1])]
    for _ in range(3):
        output, state = stacked(expected[-1][None], state)
        expected.append(forecaster.delay(output[-1]))
SILENTLY_WRONG = not torch.allclose(guesses, torch.stack(expected), atol=1e-5)
