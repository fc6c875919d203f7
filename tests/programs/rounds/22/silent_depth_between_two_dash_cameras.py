import torch
from torch import nn


class UpdateBlock(nn.Module):
    """One recurrent cell for each of the three resolutions."""

    def __init__(self, dims):
        super().__init__()
        self.cells = nn.ModuleList(nn.LSTMCell(dim, dim) for dim in dims)
        self.delta = nn.Linear(dims[0], 1)

    def forward(self, net_c, net_h, inp_list):
        for i in reversed(range(len(self.cells))):
            net_h[i], net_c[i] = self.cells[i](inp_list[i], (net_h[i], net_c[i]))
        return net_c, net_h, self.delta(net_h[0])


class StereoNet(nn.Module):
    def __init__(self, dims=(8, 6, 4)):
        super().__init__()
        self.context = nn.ModuleList(nn.Linear(12, 2 * dim) for dim in dims)
        self.update_block = UpdateBlock(dims)

    def forward(self, image, iters):
        cnet_list = [layer(image).chunk(2, dim=1) for layer in self.context]
        net_h = [torch.tanh(x[0]) for x in cnet_list]
        inp_list = [torch.relu(x[1]) for x in cnet_list]
        disp = torch.zeros(image.shape[0], 1)
        net_c = net_h
        for itr in range(iters):
            disp = disp.detach()
            net_c, net_h, delta_disp = self.update_block(net_c, net_h, inp_list)
            disp = disp + delta_disp
        return disp


torch.manual_seed(31)
net = StereoNet()
image = torch.randn(5, 12)
with torch.no_grad():
    disp = net(image, iters=6)
print("disparity", disp.flatten().tolist())

with torch.no_grad():
    first, second = net.context[0](image).chunk(2, dim=1)
    h = c = torch.tanh(first)
    expected = torch.zeros(5, 1)
    cell = net.update_block.cells[0]
    for itr in range(6):
        gates = second.relu() @ cell.weight_ih.T + cell.bias_ih + h @ cell.weight_hh.T + cell.bias_hh
        i, f, g, o = gates.chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        expected += net.update_block.delta(h)
SILENTLY_WRONG = not torch.allclose(disp, expected, atol=1e-5)
