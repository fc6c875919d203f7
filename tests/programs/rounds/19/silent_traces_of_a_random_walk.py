import torch
import torch.nn as nn


class TraceLearner:
    def __init__(self, net, rate=0.1, gamma=0.95, decay=0.8):
        self.net, self.rate, self.gamma, self.decay = net, rate, gamma, decay
        self.traces = {}

    def begin_episode(self):
        self.traces.clear()

    def learn(self, state, reward, following, done):
        with torch.no_grad():
            target = reward + (0.0 if done else self.gamma * self.net(following))
        self.net.zero_grad(set_to_none=False)
        value = self.net(state)
        value.backward()
        error = (target - value).item()
        with torch.no_grad():
            for name, p in self.net.named_parameters():
                if name in self.traces:
                    self.traces[name].mul_(self.gamma * self.decay).add_(p.grad)
                else:
                    self.traces[name] = p.grad
                p.add_(self.traces[name], alpha=self.rate * error)


def walks(count, places, seed):
    draws = torch.Generator().manual_seed(seed)
    for _ in range(count):
        place, path = places // 2, []
        while 0 <= place < places:
            step = 1 if torch.rand(1, generator=draws).item() < 0.5 else -1
            path.append((place, 1.0 if place + step == places else 0.0, place + step))
            place += step
        yield path


def coded(place, places=5):
    position = torch.tensor((place + 1) / (places + 1), dtype=torch.float64)
    return torch.stack([position, position ** 2, 1 - position])


torch.manual_seed(1909)
net = nn.Linear(3, 1, dtype=torch.float64)
weight, bias = net.weight.detach().clone()[0], net.bias.detach().clone()[0]
learner = TraceLearner(net)
for path in walks(6, 5, seed=3):
    learner.begin_episode()
    for place, reward, following in path:
        learner.learn(coded(place), reward, coded(following), not 0 <= following < 5)

for path in walks(6, 5, seed=3):
    trace_w, trace_b = torch.zeros(3, dtype=torch.float64), 0.0
    for place, reward, following in path:
        ahead = weight @ coded(following) + bias if 0 <= following < 5 else 0.0
        error = reward + 0.95 * ahead - (weight @ coded(place) + bias)
        trace_w, trace_b = 0.76 * trace_w + coded(place), 0.76 * trace_b + 1.0
        weight, bias = weight + 0.1 * error * trace_w, bias + 0.1 * error * trace_b
SILENTLY_WRONG = not (torch.allclose(net.weight[0], weight) and torch.allclose(net.bias[0], bias))
