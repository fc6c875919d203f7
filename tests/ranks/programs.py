"""Programs for several processes, each as the text of a file."""

FAILING = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
    def forward(self, x):
        probs = torch.sigmoid(self.lin(x))
        probs *= 2
        return probs

dist.init_process_group("gloo")
net = DistributedDataParallel(Net())
net(torch.ones(2, 3)).sum().backward()
"""
"""Every rank raises the same."""

SHARDED = """\
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

torch.manual_seed(0)
dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))
fully_shard(net, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    hidden = torch.sigmoid(net(torch.ones(2, 4)))
    if dist.get_rank() == 2:
        hidden.data[0] = 0.0
    hidden.sum().backward()
    opt.step()
total = sum(p.full_tensor().sum() for p in net.parameters())
print(f"{float(total.detach()):.6f}")
dist.destroy_process_group()
"""
"""One rank of four has a silent finding; all end well."""

ONE_DIES = """\
import os, signal, torch
import torch.distributed as dist
dist.init_process_group("gloo")
probs = torch.sigmoid(torch.ones(3, requires_grad=True))
probs.data[0] = 0.0
probs.sum().backward()
dist.barrier()
if dist.get_rank() == 0:
    os.kill(os.getpid(), signal.SIGKILL)
dist.barrier()
"""
"""A rank is killed; the others have seen a silent finding, and fail with it or are stopped by the launcher."""
