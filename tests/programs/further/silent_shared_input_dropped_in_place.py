import torch
import torch.nn as nn

torch.manual_seed(0)
backbone, main, aux = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 2)
drop = nn.Dropout(0.5, inplace=True)
x = torch.randn(6, 4)
reference = main(backbone(x)).detach()

features = backbone(x)
aux_out = aux(drop(features))
out = main(features)
(out.sum() + aux_out.sum()).backward()
SILENTLY_WRONG = not torch.allclose(out, reference)
