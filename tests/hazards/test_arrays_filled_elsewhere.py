"""The line that fills an array in a function without calls of its own is named where the text leads to it alone."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import plainly, watched

from inplace_magic.hazards.arrays import buffer_gathered
from inplace_magic.source.shared_arrays import filled_in
from inplace_magic.source.text import text_of

READER = """
    import io
    class Monitor:
        def __init__(self, stream):
            self.stream, self.space = stream, bytearray(8)
        def __iter__(self):
            while self.stream.readinto(self.space) == 8:
                yield torch.frombuffer(self.space, dtype=torch.float32)COPY
    def blocks(stream):
        return torch.stack(list(Monitor(stream)))
    found = blocks(io.BytesIO(torch.arange(6.0).numpy().tobytes()))
    """


def test_a_stream_that_fills_the_bytes_behind_tensors_that_no_call_met(tmp_path: Path) -> None:
    shared, copied = READER.replace("COPY", ""), READER.replace("COPY", ".clone()")
    assert plainly(tmp_path, shared).names["found"].tolist() == [[4.0, 5.0]] * 3, "PyTorch alone has the last block"
    finding = watched(tmp_path, shared).the(buffer_gathered.CODE)
    assert finding.mutation is not None
    assert finding.mutation.text == "while self.stream.readinto(self.space) == 8:"
    assert watched(tmp_path, copied).codes() == set()


def test_a_method_may_call_its_object_as_it_likes() -> None:
    lines = textwrap.dedent(READER.replace("COPY", "")).splitlines()
    shared = filled_in(text_of(tuple(lines)))
    (renamed,) = filled_in(text_of(tuple(line.replace("self", "reader") for line in lines)))
    assert [filled.path for filled in shared] == ["self.space"]
    assert (renamed.path, renamed.node.lineno) == ("reader.space", shared[0].node.lineno)


def test_an_array_on_the_bytes_leads_to_them(tmp_path: Path) -> None:
    program = """
    import io
    import numpy as np
    def blocks(stream):
        space = bytearray(8)
        samples = np.frombuffer(space, dtype=np.float32).reshape(1, 2)
        while stream.readinto(memoryview(space)) == 8:
            yield torch.from_numpy(samples)
    def taken(stream):
        return torch.cat(list(blocks(stream)))
    found = taken(io.BytesIO(torch.arange(6.0).numpy().tobytes()))
    """
    finding = watched(tmp_path, program).the(buffer_gathered.CODE)
    assert finding.mutation is not None
    assert finding.mutation.text == "while stream.readinto(memoryview(space)) == 8:"


def test_an_environment_that_moves_its_array_between_two_calls(tmp_path: Path) -> None:
    program = """
    import numpy as np
    class Carts:
        def __init__(self):
            self.places = np.zeros(2, dtype=np.float32)
        def reset(self):
            self.places[:] = 1
            return self.places
        def step(self, push):
            self.places += push
            return self.places, float(self.places.sum())
    def collect(carts):
        seen, place = [], torch.from_numpy(carts.reset())
        for _ in range(3):
            push = place * 0.5
            places, reward = carts.step(push.numpy())
            seen.append(place)
            place = torch.from_numpy(places)
        return torch.stack(seen)
    seen = collect(Carts())
    """
    finding = watched(tmp_path, program).the(buffer_gathered.CODE)
    assert finding.mutation is not None
    assert (finding.mutation.statement, finding.mutation.function) == ("self.places += push", "Carts.step")


def test_a_function_that_each_pass_calls_for_the_array(tmp_path: Path) -> None:
    program = """
    import numpy as np
    class Camera:
        def __init__(self):
            self.frame = np.zeros(2, dtype=np.float32)
        def grab(self, k):
            self.frame[:] = k
            return self.frame
    camera = Camera()
    video = torch.stack([torch.from_numpy(camera.grab(k)) for k in range(3)])
    """
    assert plainly(tmp_path, program).names["video"][0].tolist() == [2.0, 2.0]
    finding = watched(tmp_path, program).the(buffer_gathered.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "self.frame[:] = k"
    assert finding.mutation.caller is not None
    assert finding.mutation.caller.expression == "camera.grab(k)"


HEALTHY = {
    "one frame that begins a stack of frames": """
        import numpy as np
        class Camera:
            def __init__(self):
                self.frame = np.zeros(2, dtype=np.float32)
            def grab(self, k):
                self.frame[:] = k
                return self.frame
        camera = Camera()
        frame = camera.grab(1)
        frames = torch.stack([torch.from_numpy(frame) for _ in range(4)])
        """,
    "an array that is made in each pass": """
        import numpy as np
        frames = []
        for k in range(3):
            frame = np.zeros(2, dtype=np.float32)
            frame[:] = k
            frames.append(torch.from_numpy(frame))
        video = torch.stack(frames)
        """,
    "views of one array that was filled before": """
        import numpy as np
        table = np.zeros((3, 2), dtype=np.float32)
        for k in range(3):
            table[k] = k
        rows = torch.stack([torch.from_numpy(table[k]) for k in range(3)])
        """,
}


@pytest.mark.parametrize("program", [pytest.param(text, id=name) for name, text in HEALTHY.items()])
def test_a_healthy_look_alike_gives_no_alarm(loaded_shell: Any, tmp_path: Path, program: str) -> None:
    found = told(loaded_shell, tmp_path, program)
    assert found.plain is None
    assert found.alarms == [[], []], [report.to_text() for report in found.reports]


def test_where_an_array_leads_nowhere_nothing_is_said_of_the_text() -> None:
    known = """
    class Monitor:
        def __iter__(self):
            while self.stream.readinto(self.space):
                yield torch.frombuffer(self.space)
    """
    unknown = known + "\n    def taken(env):\n        return torch.from_numpy(env.observe())\n"
    texts = [text_of(tuple(textwrap.dedent(text).splitlines())) for text in (known, unknown)]
    assert [[(each.function, each.path) for each in filled_in(text)] for text in texts] == [
        [("Monitor.__iter__", "self.space")],
        [],
    ]
