import torch


def transport_plan(cost, source, target, blur, rounds):
    plan = cost.div(-blur).exp_()
    for _ in range(rounds):
        plan.div_(plan.sum(dim=1, keepdim=True)).mul_(source.unsqueeze(1))
        plan.div_(plan.sum(dim=0, keepdim=True)).mul_(target.unsqueeze(0))
    return plan


def palette_distance(a, b, wa, wb):
    cost = torch.cdist(a, b).pow_(2)
    plan = transport_plan(cost, wa, wb, 0.2, 30)
    return (plan * cost).sum(), plan


torch.manual_seed(632)
autumn, winter = torch.rand(7, 3, dtype=torch.float64), torch.rand(5, 3, dtype=torch.float64)
wa = torch.softmax(torch.randn(7, dtype=torch.float64), dim=0)
wb = torch.softmax(torch.randn(5, dtype=torch.float64), dim=0)
distance, plan = palette_distance(autumn, winter, wa, wb)

cost = (autumn.unsqueeze(1) - winter.unsqueeze(0)).pow(2).sum(dim=2)
kernel = torch.exp(-cost / 0.2)
v = torch.ones(5, dtype=torch.float64)
for _ in range(30):
    u = wa / (kernel @ v)
    v = wb / (kernel.t() @ u)
expected = u.unsqueeze(1) * kernel * v
SILENTLY_WRONG = not (torch.allclose(plan, expected) and torch.allclose(distance, (expected * cost).sum()))
