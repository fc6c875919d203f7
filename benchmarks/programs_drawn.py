"""Programs whose pictures and outputs are measured: the same text a notebook's cell would have."""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "sigmoid failure": """
        features = torch.randn(8, 5)
        weight = torch.randn(5, requires_grad=True)
        logits = features @ weight
        probs = torch.sigmoid(logits)
        probs[2] = 2.0
        loss = probs.sum()
        loss.backward()
        """,
    "two branches": """
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.left, self.right = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 4, 3, padding=1)
                self.act = nn.ReLU(inplace=True)
            def forward(self, x):
                left = self.left(self.act(x))
                right = self.right(x)
                return left + right
        stem = nn.Conv2d(3, 3, 1)
        net = Two()
        loss = net(stem(torch.randn(2, 3, 8, 8))).mean()
        loss.backward()
        """,
    "33 layers": """
        net = nn.Sequential(*(nn.Linear(4, 4) for _ in range(33)))
        loss = net(torch.randn(2, 4)).sum()
        """,
    "1,000 calls": """
        x = torch.ones(3, requires_grad=True)
        y = x
        for step in range(500):
            y = y * 1.01
            y = torch.tanh(y)
        """,
    "500 steps": """
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        inputs, targets = torch.randn(32, 8), torch.randn(32, 1)
        for step in range(500):
            optimizer.zero_grad()
            loss = ((model(inputs) - targets) ** 2).mean()
            loss.backward()
            optimizer.step()
        """,
    "ResNet-18 step": """
        class BasicBlock(nn.Module):
            def __init__(self, inputs, outputs, stride):
                super().__init__()
                self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
                self.bn1 = nn.BatchNorm2d(outputs)
                self.relu = nn.ReLU(inplace=True)
                self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
                self.bn2 = nn.BatchNorm2d(outputs)
                self.downsample = None
                if stride != 1 or inputs != outputs:
                    self.downsample = nn.Sequential(
                        nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
                    )
            def forward(self, x):
                identity = x if self.downsample is None else self.downsample(x)
                out = self.relu(self.bn1(self.conv1(x)))
                out = self.bn2(self.conv2(out))
                out += identity
                return self.relu(out)
        class ResNet18(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv1 = nn.Conv2d(3, 16, 7, 2, 3, bias=False)
                self.bn1 = nn.BatchNorm2d(16)
                self.relu = nn.ReLU(inplace=True)
                self.maxpool = nn.MaxPool2d(3, 2, 1)
                self.layer1 = nn.Sequential(BasicBlock(16, 16, 1), BasicBlock(16, 16, 1))
                self.layer2 = nn.Sequential(BasicBlock(16, 32, 2), BasicBlock(32, 32, 1))
                self.layer3 = nn.Sequential(BasicBlock(32, 64, 2), BasicBlock(64, 64, 1))
                self.layer4 = nn.Sequential(BasicBlock(64, 128, 2), BasicBlock(128, 128, 1))
                self.avgpool = nn.AdaptiveAvgPool2d(1)
                self.fc = nn.Linear(128, 10)
            def forward(self, x):
                x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
                x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
                return self.fc(torch.flatten(self.avgpool(x), 1))
        model = ResNet18()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(torch.randn(2, 3, 64, 64)), torch.tensor([1, 2]))
        loss.backward()
        optimizer.step()
        """,
    "GPT blocks": """
        class Block(nn.Module):
            def __init__(self, width, heads):
                super().__init__()
                self.heads = heads
                self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            def attend(self, x):
                B, T, C = x.shape
                q, k, v = self.qkv(x).chunk(3, -1)
                q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
                scores = q @ k.transpose(-2, -1) / (C // self.heads) ** 0.5
                mask = torch.ones(T, T).triu(1).bool()
                scores = scores.masked_fill(mask, float("-inf"))
                return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
            def forward(self, x):
                x = x + self.attend(self.ln1(x))
                return x + self.mlp(self.ln2(x))
        class GPT(nn.Module):
            def __init__(self, vocabulary=50, width=16, depth=6):
                super().__init__()
                self.tok, self.pos = nn.Embedding(vocabulary, width), nn.Embedding(32, width)
                self.blocks = nn.ModuleList(Block(width, 2) for _ in range(depth))
                self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)
            def forward(self, ids):
                x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
                for block in self.blocks:
                    x = block(x)
                return self.head(self.norm(x))
        gpt = GPT()
        ids = torch.randint(0, 50, (2, 8))
        loss = F.cross_entropy(gpt(ids).flatten(0, 1), ids.flatten())
        loss.backward()
        """,
    "U-Net": """
        def double(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True),
                                 nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        class UNet(nn.Module):
            def __init__(self):
                super().__init__()
                self.down = nn.ModuleList([double(1, 4), double(4, 8), double(8, 16)])
                self.middle = double(16, 32)
                self.up = nn.ModuleList([nn.ConvTranspose2d(2 * c, c, 2, 2) for c in (16, 8, 4)])
                self.merge = nn.ModuleList([double(2 * c, c) for c in (16, 8, 4)])
                self.out = nn.Conv2d(4, 1, 1)
            def forward(self, x):
                skips = []
                for down in self.down:
                    x = down(x)
                    skips.append(x)
                    x = F.max_pool2d(x, 2)
                x = self.middle(x)
                for up, merge in zip(self.up, self.merge):
                    x = merge(torch.cat([up(x), skips.pop()], 1))
                return self.out(x)
        unet = UNet()
        loss = unet(torch.randn(1, 1, 32, 32)).square().mean()
        loss.backward()
        """,
    "LSTM": """
        class LSTM(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = nn.LSTMCell(4, 8)
                self.head = nn.Linear(8, 1)
            def forward(self, xs):
                h, c = torch.zeros(2, 8), torch.zeros(2, 8)
                for x in xs:
                    h, c = self.cell(x, (h, c))
                return self.head(h)
        lstm = LSTM()
        loss = lstm(torch.randn(20, 2, 4)).mean()
        loss.backward()
        """,
}
"""By name: source without imports; ``torch``, ``nn`` and ``F`` are at hand."""
