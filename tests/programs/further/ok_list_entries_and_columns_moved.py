import torch

torch.manual_seed(0)
states = [torch.randn(3), torch.randn(3)]
states[0], states[1] = states[1], states[0]
box = torch.rand(5, 4)
scale = torch.rand(5, 2)
box[:, 0], box[:, 1] = scale[:, 0], scale[:, 1]
box[:, 2], box[:, 3] = box[:, 2] * 2, box[:, 3] * 3
area = box[:, 2] * box[:, 3] + states[0].sum()
