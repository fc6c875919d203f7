"""An array that a function writes through a tensor is told where its caller reads it on, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import plainly, watched

from inplace_magic.hazards.arrays import array_argument_written


def test_an_object_that_scales_the_array_that_it_was_made_with(tmp_path: Path) -> None:
    program = """
    import numpy as np
    class Signal:
        def __init__(self, table):
            self.values = torch.from_dlpack(TABLE)
        def centred(self):
            self.values -= self.values.mean()
            return self
        def power(self):
            return self.values.square().sum()
    def inspect(table):
        power = Signal(table).centred().power()
        return power, table.max()
    power, peak = inspect(np.array([1.0, 2.0, 6.0]))
    """
    shared, copied = (program.replace("TABLE", text) for text in ("table", "table.copy()"))
    assert plainly(tmp_path, shared).names["peak"] == 3.0, "PyTorch alone centres the caller's table"
    finding = watched(tmp_path, shared).the(array_argument_written.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "self.values -= self.values.mean()"
    assert finding.read is not None
    assert finding.read.text == "return power, table.max()"
    assert watched(tmp_path, copied).codes() == set()


def test_an_augmented_assignment_binds_the_name_to_the_same_tensor(tmp_path: Path) -> None:
    program = """
    import numpy as np
    def classes(images):
        batch = torch.from_numpy(images)
        BATCH
        return batch.reshape(2, 4).argmax(1)
    images = np.arange(8.0)
    found = classes(images)
    brightest = images.max()
    """
    shared, anew = (program.replace("BATCH", text) for text in ("batch /= 255", "batch = batch / 255"))
    finding = watched(tmp_path, shared).the(array_argument_written.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "batch /= 255"
    assert watched(tmp_path, anew).codes() == set()


CLASSES = """
        def classes(images):
            batch = torch.from_numpy(images)
            batch.sub_(0.5).div_(0.25)
            return batch.sum(1)
        images = np.arange(8.0).reshape(2, 4)
        """
HEALTHY = {
    "a function that is called for what it does": """
        def scale(images):
            batch = torch.from_numpy(images)
            batch.sub_(0.5).div_(0.25)
            return batch.sum(1)
        images = np.arange(8.0).reshape(2, 4)
        scale(images)
        brightest = images.max()
        """,
    "an array that is bound anew": CLASSES
    + """
        images = classes(images).numpy()
        brightest = images.max()
        """,
    "a copy that is handed over": CLASSES
    + """
        found = classes(images.copy())
        brightest = images.max()
        """,
    "an array of which the shape alone is read": CLASSES
    + """
        found = classes(images)
        shares = found / len(images) / images.shape[1]
        """,
    "an array that is filled again": CLASSES
    + """
        found = classes(images)
        images[:] = 1.0
        brightest = images.max()
        """,
    "a function that gives the tensor back": """
        def prepared(images):
            batch = torch.from_numpy(images)
            batch.div_(255)
            return batch
        images = np.arange(8.0)
        batch = prepared(images)
        brightest = images.max()
        """,
    "what was measured before the array was standardised": """
        def standardise(table):
            values = torch.from_numpy(table)
            mean, std = values.mean(), values.std()
            values.sub_(mean).div_(std)
            return mean, std
        table = np.arange(8.0)
        mean, std = standardise(table)
        highest = table.max()
        """,
    "counts that a function adds to": """
        def count(histogram, values):
            counts = torch.from_numpy(histogram)
            counts += torch.bincount(values, minlength=3)
            return counts.sum()
        def count_all(histogram):
            total = count(histogram, torch.tensor([0, 2]))
            return total, histogram.max()
        total, most = count_all(np.array([1, 0, 0]))
        """,
    "a state that each run moves on": """
        def relaxed(grid):
            values = torch.from_numpy(grid)
            values.mul_(0.5)
            return values.norm()
        grid = np.arange(4.0)
        for step in range(3):
            rest = relaxed(grid)
        highest = grid.max()
        """,
    "a conversion that copies": """
        def classes(images):
            batch = torch.as_tensor(images, dtype=torch.float32)
            batch.div_(255)
            return batch.sum(1)
        images = np.arange(8.0).reshape(2, 4)
        found = classes(images)
        brightest = images.max()
        """,
}


@pytest.mark.parametrize("program", [pytest.param(text, id=name) for name, text in HEALTHY.items()])
def test_a_healthy_look_alike_gives_no_alarm(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    found = told(loaded_shell, tmp_path, "\n        import numpy as np" + program)
    assert found.plain is None
    assert found.alarms == [[], []], [report.to_text() for report in found.reports]
