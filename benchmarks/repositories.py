"""Bytes that a watched training step of public repositories leaves in a notebook.

    python benchmarks/repositories.py FOLDER [NAME ...] [--page]

FOLDER holds the checkouts, each under the last part of its name, as `git clone` puts them; one that is missing is
skipped. Each step is run as a cell, in a real shell, which imports the repository's own modules; some have one line
more than the healthy step, and fail. `--page` writes docs/measured/report-bytes.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell

from inplace_magic.render import to_mimebundle

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measured" / "report-bytes.md"
CIFAR = "x, y = torch.randn(4, 3, 32, 32), torch.randint(0, 10, (4,))\nnet = models.{name}()\n" + (
    "optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)"
)
STEP = """optimizer.zero_grad()
loss = F.cross_entropy(net(x), y)
loss.backward()
optimizer.step()"""
FAILS = """optimizer.zero_grad()
probs = torch.softmax(net(x), dim=1)
probs[:, 0] = 0
F.nll_loss(probs.log(), y).backward()
optimizer.step()"""


@dataclass(frozen=True)
class Step:
    """A training step of a repository."""

    repository: str
    what: str
    made: str
    """What is run before the watch."""
    step: str = STEP


TD3 = """import TD3, utils, numpy as np
agent, memory = TD3.TD3(state_dim=8, action_dim=2, max_action=1.0), utils.ReplayBuffer(8, 2)
for _ in range(40):
    memory.add(np.random.randn(8), np.random.randn(2), np.random.randn(8), 0.5, 0.0)"""
SAC = """import argparse, numpy as np, sac, replay_memory
from types import SimpleNamespace
space = SimpleNamespace(shape=(2,), high=np.ones(2), low=-np.ones(2))
args = argparse.Namespace(gamma=0.99, tau=0.005, alpha=0.2, policy="Gaussian", target_update_interval=1,
    automatic_entropy_tuning=True, cuda=False, hidden_size=32, lr=1e-3)
agent, memory = sac.SAC(8, space, args), replay_memory.ReplayMemory(100, 0)
for _ in range(40):
    memory.push(np.random.randn(8), np.random.randn(2), 0.5, np.random.randn(8), 1.0)"""
GPT = """from mingpt.model import GPT
config = GPT.get_default_config()
config.model_type, config.n_layer, config.n_head, config.n_embd = None, 6, 4, 32
config.vocab_size, config.block_size = 50, 16
net = GPT(config)
x = torch.randint(0, 50, (2, 16))
optimizer = torch.optim.AdamW(net.parameters())"""
GPT_STEP = """optimizer.zero_grad()
logits, loss = net(x, x)
loss.backward()
optimizer.step()"""
GPT_LOOP = "for step in range(10):\n" + textwrap.indent(GPT_STEP, "    ")
TRANSFORMER = """from transformer.Models import Transformer
net = Transformer(50, 50, 0, 0, d_word_vec=32, d_model=32, d_inner=64, n_layers=3, n_head=4, d_k=8, d_v=8)
x, y = torch.randint(1, 50, (2, 10)), torch.randint(1, 50, (2, 10))
optimizer = torch.optim.Adam(net.parameters())"""
UNET = """from unet import UNet
net = UNet(n_channels=3, n_classes=2)
x, y = torch.randn(1, 3, 64, 64), torch.randint(0, 2, (1, 64, 64))
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-5, momentum=0.9)"""
STEPS = (
    *(
        Step("kuangliu/pytorch-cifar", name, "import models\n" + CIFAR.format(name=name))
        for name in ("ResNet18", "PreActResNet18", "GoogLeNet", "DenseNet121", "MobileNetV2", "DPN26")
    ),
    Step("kuangliu/pytorch-cifar", "ResNet18, fails", "import models\n" + CIFAR.format(name="ResNet18"), FAILS),
    Step("kuangliu/pytorch-cifar", "DenseNet121, fails", "import models\n" + CIFAR.format(name="DenseNet121"), FAILS),
    Step("milesial/Pytorch-UNet", "UNet", UNET),
    Step("milesial/Pytorch-UNet", "UNet, fails", UNET, FAILS),
    Step("karpathy/minGPT", "GPT, 6 blocks", GPT, GPT_STEP),
    Step("karpathy/minGPT", "GPT, 6 blocks, 10 steps", GPT, GPT_LOOP),
    Step(
        "jadore801120/attention-is-all-you-need-pytorch", "Transformer, 3 + 3 layers", TRANSFORMER,
        "optimizer.zero_grad()\nloss = F.cross_entropy(net(x, y), y.view(-1))\nloss.backward()\noptimizer.step()",
    ),
    Step("sfujim/TD3", "TD3.train, 2 steps", TD3, "agent.train(memory, 16)\nagent.train(memory, 16)"),
    Step("pranz24/pytorch-soft-actor-critic", "SAC.update_parameters, 2 steps", SAC,
         "agent.update_parameters(memory, 16, 0)\nagent.update_parameters(memory, 16, 1)"),
)  # fmt: skip


def run_one(number: int, folder: Path) -> str:
    """Runs a step in this process; gives a row of the table."""
    each = STEPS[number]
    sys.path.insert(0, str(folder))
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "inplace_magic")
    torch.manual_seed(0)
    made = shell.run_cell(f"import torch\nimport torch.nn.functional as F\n{each.made}")
    if made.error_in_exec is not None:
        raise SystemExit(f"{each.repository}, {each.what}: {made.error_in_exec}")
    shell.run_cell(f"%%inplace_watch -o report\n{each.step}")
    report: Any = shell.user_ns["report"]
    html, text = (len(part.encode()) for part in to_mimebundle(report).values())
    found = sum(finding.severity != "info" for finding in report.hazards)
    facts = (each.repository, each.what, f"{len(report.calls):,}", str(found), f"{html:,}", f"{html + text:,}")
    return f"| {' | '.join(facts)} |"


HEAD = """# Bytes of a report

Size of one output in the notebook file, for training steps of public repositories, run as cells that import the
repository's own modules. Written by `python benchmarks/repositories.py FOLDER --page` with torch {torch}, and not by
hand; the script explains FOLDER. *Fails*: the step writes into the result of a softmax that backward needs.

| repository | step | torch calls | findings | HTML, bytes | HTML and text, bytes |
|---|---|---|---|---|---|
"""


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="words of repositories or steps; all when none is given")
    parser.add_argument("--page", action="store_true", help="write the page; needs every checkout")
    parser.add_argument("--number", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.number is not None:
        print(run_one(chosen.number, chosen.folder))
        return
    rows = []
    for number, each in enumerate(STEPS):
        checkout = chosen.folder / each.repository.rpartition("/")[2]
        if chosen.names and not any(name in f"{each.repository} {each.what}" for name in chosen.names):
            continue
        if not checkout.exists():
            print(f"{each.repository} is skipped: there is no {checkout}.", file=sys.stderr)
            continue
        # a process each: repositories have modules of the same names
        command = [sys.executable, __file__, str(checkout), "--number", str(number)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        row = next((line for line in done.stdout.splitlines() if line.startswith(f"| {each.repository} |")), None)
        print(row or f"{each.repository}, {each.what} failed:\n{done.stdout[-300:]}{done.stderr[-1500:]}")
        rows += [row] if row else []
    if chosen.page and len(rows) == len(STEPS):
        head = HEAD.format(torch=torch.__version__.partition("+")[0])
        PAGE.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
