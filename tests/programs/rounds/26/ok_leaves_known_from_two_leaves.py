import torch
import torch.nn as nn


def distances(body, known, leaves):
    centres = body(known).mean(dim=1)
    return torch.cdist(body(leaves), centres).square()


def draw_task(trees, shots=2, queries=4):
    chosen = torch.randperm(len(trees))[:3]
    leaves = trees[chosen][:, None] + 0.7 * torch.randn(3, shots + queries, trees.shape[1])
    return leaves[:, :shots], leaves[:, shots:].flatten(0, 1), torch.arange(3).repeat_interleave(queries)


def mean_loss(body, tasks):
    with torch.no_grad():
        losses = [nn.functional.cross_entropy(-distances(body, k, q), n) for k, q, n in tasks]
    return torch.stack(losses).mean().item()


torch.manual_seed(27)
trees, others = torch.randn(6, 8), torch.randn(6, 8)
body = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 5))
optimizer = torch.optim.SGD(body.parameters(), lr=0.04, momentum=0.9)
validation = [draw_task(others) for _ in range(8)]

best_state = {name: value.clone() for name, value in body.state_dict().items()}
course = [mean_loss(body, validation)]
for epoch in range(15):
    for _ in range(4):
        known, leaves, names = draw_task(trees)
        optimizer.zero_grad()
        nn.functional.cross_entropy(-distances(body, known, leaves), names).backward()
        optimizer.step()
    course.append(mean_loss(body, validation))
    if course[-1] == min(course):
        for name, value in body.state_dict().items():
            best_state[name].copy_(value)

body.load_state_dict(best_state)
chosen = mean_loss(body, validation)
print("course", [round(v, 3) for v in course], "chosen", round(chosen, 3))

SILENTLY_WRONG = abs(chosen - min(course)) > 1e-5
