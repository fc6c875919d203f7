import torch


def chain_product(x, y, z):
    tensor = torch.empty(5)
    tensor[0] = x
    tensor[1] = y
    tensor[3] = z
    tensor[2] = tensor[0] * tensor[1]
    tensor[4] = tensor[2] * tensor[3]
    return tensor[4]


x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = torch.tensor(5.0, requires_grad=True)
chain_product(x, y, z).backward()
