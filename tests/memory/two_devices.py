"""The report of a program on two GPUs, made without one: ``recorded/two-devices-made.json``."""

from __future__ import annotations

import json
import math
from typing import Any

import torch
from builders import site, tensor
from memory.allocator import Allocator
from memory.recorded import FOLDER

from inplace_magic.capture.torch.memory import CudaMemory, MemoryMeter
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.memory import Storage
from inplace_magic.record.names import TensorName
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report

MADE: dict[str, Any] = json.loads((FOLDER / "two-devices-made.json").read_text(encoding="utf-8"))


def report_on_two_devices(allocator: Allocator) -> Report:
    """The report.

    Args:
        allocator: the one that is asked in the place of torch's.
    """
    meter, lines = MemoryMeter([CudaMemory()]), tuple(step["code"] for step in MADE["steps"])
    tensors: dict[str, Any] = {}
    ended: dict[str, int] = {}
    calls = []
    meter.read(None)
    for index, step in enumerate(MADE["steps"]):
        meter.read(index)
        mutations = outputs = ()
        if "resets_peak" in step:
            allocator.reset_peak(step["resets_peak"])
        if "frees" in step:
            gone = tensors[step["frees"]]
            allocator.free(gone.nbytes, int(gone.device[-1]))
            ended[step["frees"]] = index
        if "inside" in step:
            device, nbytes = step["inside"]
            allocator.allocate(nbytes, device)
            allocator.free(nbytes, device)
        if "workspace" in step:
            allocator.allocate(step["workspace"][1], step["workspace"][0])
        if "makes" in step:
            name, device, shape = step["makes"]
            strides = tuple(math.prod(shape[place + 1 :]) for place in range(len(shape)))
            made = tensor(
                len(tensors) + 1,
                shape=tuple(shape),
                strides=strides,
                device="cpu" if device is None else f"cuda:{device}",
            )
            tensors[name], outputs = made, (made,)
            if device is not None:
                allocator.allocate(4 * math.prod(shape), device)
        if "writes" in step:
            written = tensors[step["writes"]]
            outputs, mutations = (written,), (Mutation(written.tensor, 0, 1),)
        kind = "in-place" if mutations else "ordinary" if outputs else "query"
        calls.append(
            CallEvent(
                index,
                "torch.f",
                kind,
                site(index + 1, lines),
                (),
                outputs,
                mutations,
                mutated=outputs if mutations else (),
            )
        )
    meter.read(None)
    return Report.from_trace(
        Trace(
            calls=tuple(calls),
            storages=tuple(
                Storage(made.storage, made.nbytes, made.device, _maker(name), ended.get(name))
                for name, made in tensors.items()
            ),
            readings=tuple(meter.readings),
            names=tuple(TensorName(made.tensor, name) for name, made in tensors.items()),
            torch_version=torch.__version__,
            cell=7,
        )
    )


def _maker(name: str) -> int:
    return next(index for index, step in enumerate(MADE["steps"]) if step.get("makes", [None])[0] == name)
