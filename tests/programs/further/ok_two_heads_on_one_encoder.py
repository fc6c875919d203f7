import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(torch.relu(self.encoder(x)))


torch.manual_seed(0)
encoder = nn.Linear(3, 4)
teacher, student = Model(encoder), Model(encoder)
opt = torch.optim.SGD([*student.parameters(), *teacher.head.parameters()], lr=0.1)
x, y = torch.randn(8, 3), torch.randint(0, 2, (8,))
for step in range(3):
    loss = nn.functional.cross_entropy(student(x), y) + nn.functional.cross_entropy(teacher(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
