"""Long loops and large tensors, in scripts of their own: what is told, and what the watch keeps."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from situations.running import ran, told

LATE = """\
import torch
weight = torch.ones(3, requires_grad=True)
for step in range(10_000):
    hidden = torch.sigmoid(weight)
    if step == 9_999:
        hidden.mul_(2)
    hidden.sum().backward()
    weight.grad = None
"""


@pytest.mark.parametrize("level", ["calls", "writes"])
def test_a_write_in_the_last_of_ten_thousand_steps_is_named(tmp_path: Path, level: str) -> None:
    said = ran(tmp_path, "-m", "inplace_magic", "--level", level, "program.py", program=LATE).stderr
    assert "`hidden` was overwritten by `hidden.mul_(2)` (program.py:6)" in said


MANY = """\
import hashlib, torch
torch.manual_seed(0)
parameters = [torch.nn.Parameter(torch.randn(2)) for _ in range(10_000)]
optimizer = torch.optim.Adam(parameters, foreach=True)  # as on an accelerator, where nobody asks for it
torch.stack(parameters).square().sum().backward()
optimizer.step()
values = torch.stack(parameters).detach().numpy().tobytes()
print(hashlib.sha256(values).hexdigest(), sum(p._version for p in parameters))
"""


def test_a_step_of_ten_thousand_parameters_has_the_bits_of_the_unwatched_one(tmp_path: Path) -> None:
    plain, said = told(tmp_path, MANY)
    assert plain.returncode == 0
    assert "✓ Nothing wrong found" in said


LARGE = """\
import resource, torch
large = torch.zeros(50_000_000)
large.add_(1)
half = large[:10]
half.mul_(2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory in kilobytes is Linux's")
def test_a_tensor_of_200_megabytes_is_not_copied(tmp_path: Path) -> None:
    """The watch itself takes some tens of megabytes; a copy would take 200."""
    plain = ran(tmp_path, "program.py", program=LARGE)
    watched = ran(tmp_path, "-m", "inplace_magic", "program.py")
    assert int(watched.stdout) - int(plain.stdout) < 100_000


DIES = """\
import gc, weakref, torch
gc.disable()
tensor = torch.ones(3) * 2
there = weakref.ref(tensor)
tensor.add_(1)
del tensor
print(there() is None, "torch._dynamo" in __import__("sys").modules)
"""


@pytest.mark.parametrize("level", ["calls", "ops", "writes"])
def test_a_tensor_dies_where_it_would_and_no_compiler_is_imported(tmp_path: Path, level: str) -> None:
    done = ran(tmp_path, "-m", "inplace_magic", "--quiet", "--level", level, "program.py", program=DIES)
    assert (done.stdout, done.stderr) == ("True False\n", "")
