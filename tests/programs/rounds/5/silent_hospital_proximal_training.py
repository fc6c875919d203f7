import torch
import torch.nn as nn
import torch.nn.functional as F


class HospitalClient:
    def __init__(self, batches, mu):
        self.model = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.2)
        self.batches = batches
        self.mu = mu

    def fit(self, server_state, epochs):
        self.model.load_state_dict(server_state)
        server_weights = list(self.model.parameters())
        for _ in range(epochs):
            for x, y in self.batches:
                loss = F.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                for w, w_server in zip(self.model.parameters(), server_weights):
                    w.grad += self.mu * (w.detach() - w_server.detach())
                self.optimizer.step()
        return self.model.state_dict()


def reference(server_state, batches, mu, epochs):
    params = {k: v.clone().requires_grad_() for k, v in server_state.items()}
    net = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3))
    for _ in range(epochs):
        for x, y in batches:
            loss = F.cross_entropy(torch.func.functional_call(net, params, (x,)), y)
            for k, v in params.items():
                loss = loss + 0.5 * mu * (v - server_state[k]).pow(2).sum()
            grads = torch.autograd.grad(loss, list(params.values()))
            params = {k: (v - 0.2 * g).detach().requires_grad_()
                      for (k, v), g in zip(params.items(), grads)}
    return params


torch.manual_seed(0)
batches = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(5)]
server = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3))
server_state = {k: v.clone() for k, v in server.state_dict().items()}
client = HospitalClient(batches, mu=1.5)
local = client.fit(server_state, epochs=3)
expected = reference(server_state, batches, 1.5, 3)
SILENTLY_WRONG = not all(torch.allclose(local[k], expected[k], atol=1e-4) for k in expected)
