import torch
import torch.nn as nn

torch.manual_seed(0)
bn = nn.BatchNorm1d(3)
support, query = torch.randn(16, 3), torch.randn(4, 3) + 2
bn(support)
truth = bn.running_mean.clone()

backup = bn.running_mean, bn.running_var
adapted = bn(support * 5)
with torch.no_grad():
    bn.running_mean.copy_(backup[0])
    bn.running_var.copy_(backup[1])
bn.eval()
out = bn(query)
SILENTLY_WRONG = not torch.allclose(bn.running_mean, truth)
