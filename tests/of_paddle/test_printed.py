"""What IPython prints of an error of Paddle's is what it prints unwatched, letter for letter, below the verdict."""

from __future__ import annotations

import re
from typing import Any

import pytest
from IPython.utils.capture import capture_output

LINES_ABOVE = "paddle.seed(1)\n" * 6
"""IPython shows five lines before the one that failed; the first line of the cell is not to be among them."""
FAILING = {
    "backward": "x = paddle.ones([2])\nx.stop_gradient = False\ny = paddle.exp(x)\ny.scale_(2.0)\ny.sum().backward()\n",
    "leaf": "x = paddle.ones([2])\nx.stop_gradient = False\nx[0] = 1.0\n",
    "shapes": "x = paddle.ones([2, 3])\nx.matmul(x)\n",
    "in_a_hook": (
        "x = paddle.ones([2])\nx.stop_gradient = False\ny = x * 2.0\n"
        "y.register_hook(lambda grad: grad.matmul(paddle.ones([3, 3])))\ny.sum().backward()\n"
    ),
    "while_handling": ("x = paddle.ones([2, 3])\ntry:\n    x.matmul(x)\nexcept ValueError:\n    x.reshape([5])\n"),
}


def printed(shell: Any, first_line: str, program: str) -> str:
    """The traceback of a cell, from its first line to the end of Paddle's text, without addresses and counted names."""
    with capture_output() as captured:
        shell.run_cell(f"{first_line}\nimport paddle\n{LINES_ABOVE}{program}")
    found = re.search(r"-{70}.*\(at /paddle/\S+\)", captured.stdout, re.DOTALL)
    assert found is not None
    return re.sub(r"0x[0-9a-f]+|generated_tensor_\d+|ipython-input-[-0-9a-f]+", "…", found[0])


@pytest.mark.parametrize("name", FAILING)
def test_the_traceback_that_a_cell_shows_is_the_unwatched_one(loaded_shell: Any, name: str) -> None:
    first_lines = "# as it is", "%%inplace_watch"
    plain, watched = [printed(loaded_shell, line, FAILING[name]) for line in first_lines]  # by one line: it is printed
    assert "Traceback" in plain
    assert watched == plain
