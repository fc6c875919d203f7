import torch
import torch.nn as nn


class HeavyBall(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum, decay):
        super().__init__(params, dict(lr=lr, momentum=momentum, decay=decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                grad = p.grad.add(p, alpha=group["decay"])
                state = self.state[p]
                if "speed" not in state:
                    state["speed"] = grad.clone()
                else:
                    state["speed"].mul_(group["momentum"]).add_(grad)
                p.add_(state["speed"], alpha=-group["lr"])


torch.manual_seed(863)
net = nn.Sequential(nn.Linear(4, 9), nn.Sigmoid(), nn.Linear(9, 1))
twin = nn.Sequential(nn.Linear(4, 9), nn.Sigmoid(), nn.Linear(9, 1))
twin.load_state_dict(net.state_dict())
beans = torch.randn(40, 4)
weight = beans[:, :1] * beans[:, 1:2]

ours = HeavyBall(net.parameters(), lr=0.1, momentum=0.9, decay=0.01)
theirs = torch.optim.SGD(twin.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
for model, optimizer in ((net, ours), (twin, theirs)):
    for _ in range(25):
        optimizer.zero_grad(set_to_none=False)
        nn.functional.mse_loss(model(beans), weight).backward()
        optimizer.step()

SILENTLY_WRONG = not torch.allclose(net(beans), twin(beans), atol=1e-5)
